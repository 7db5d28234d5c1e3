// Methods of Python's texts and maps, and functions that every template has; only for this folder's
// sources. All throw std::domain_error, which says what is not understood.
#pragma once

#include <optional>
#include <string>

#include "jinja/arguments.hpp"
#include "jinja/value.hpp"

namespace spillway::jinja {

// Returns whether an object has a method of this name, so that object.name is no entry.
bool has_method(Value const& object, std::string const& name);
Value call_method(Value const& object, std::string const& name, Arguments const& arguments);

// Returns the function of that name, or undefined.
Value builtin(std::string const& name);
Value call_builtin(std::string const& name, Arguments const& arguments);

// These are upper, lower, title and capitalize.
std::optional<std::string> in_case(std::string const& name, std::string const& text);

}  // namespace spillway::jinja
