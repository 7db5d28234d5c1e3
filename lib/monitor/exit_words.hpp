// Says in words what an exit status of this program means.
#pragma once

#include <string_view>

namespace spillway {

std::string_view exit_words(int status);

}  // namespace spillway
