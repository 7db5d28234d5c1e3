// Replaces environment variables in paths: $NAME and ${NAME}. "$$" stands for a dollar sign.
#pragma once

#include <string>
#include <string_view>

#include "config/place.hpp"

namespace spillway {

// Refuses a variable that is not set, naming it, and a '$' without a name behind it.
std::string expand_variables(std::string_view text, Place const& place);

// Replaces a "~" at the beginning by $HOME if the path is "~" or "~/...". Refuses "~name".
std::string expand_home(std::string_view path, Place const& place);

// Returns a text that expand_variables turns into `path`.
std::string escape_variables(std::string_view path);

}  // namespace spillway
