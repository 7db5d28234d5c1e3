// Describes errors of the system.
#pragma once

#include <string>

namespace spillway {

// Returns the text of an errno, in one line.
std::string error_text(int error);

}  // namespace spillway
