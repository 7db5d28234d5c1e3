// Replaces environment variables in paths: $NAME and ${NAME}. "$$" stands for a dollar sign.
#pragma once

#include <string>
#include <string_view>

#include "config/place.hpp"

namespace spillway {

// Replaces the variables in `text`. Throws Error(bad_input) if a variable is not set or a '$' has
// no name after it.
std::string expand_variables(std::string_view text, Place const& place);

// Replaces "~" by $HOME in the path "~" or "~/...". Throws Error(bad_input) for a path such as
// "~name", or if $HOME is not set.
std::string expand_home(std::string_view path, Place const& place);

// Returns a text that expand_variables turns into `path`.
std::string escape_variables(std::string_view path);

}  // namespace spillway
