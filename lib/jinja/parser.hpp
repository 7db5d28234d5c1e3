// Makes the tree of a template; only for this folder's sources.
#pragma once

#include <string>
#include <string_view>

#include "jinja/tree.hpp"

namespace spillway::jinja {

// Throws Error(bad_input) that begins with `path` and a line if something is not understood.
Body parsed(std::string_view source, std::string const& path);

}  // namespace spillway::jinja
