// Environment variables in paths: $NAME and ${NAME}; "$$" is a dollar.
#pragma once

#include <string>
#include <string_view>

#include "config/place.hpp"

namespace spillway {

// Refuses a variable that is not set, naming it, and a '$' that begins none.
std::string expand_variables(std::string_view text, Place const& place);

// "~" and "~/..." begin with $HOME, as a shell has it where it sees them. Refuses "~name".
std::string expand_home(std::string_view path, Place const& place);

// The text that expands to `path`.
std::string escape_variables(std::string_view path);

}  // namespace spillway
