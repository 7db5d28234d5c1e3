// Filters and tests; only for this folder's sources. Both throw std::domain_error, which says what
// is not understood.
#pragma once

#include <string>

#include "jinja/arguments.hpp"
#include "jinja/value.hpp"

namespace spillway::jinja {

Value filtered(std::string const& name, Value const& value, Arguments const& arguments);
bool tested(std::string const& name, Value const& value, Arguments const& arguments);

}  // namespace spillway::jinja
