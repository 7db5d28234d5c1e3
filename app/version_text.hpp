// Makes the text that `--version` prints.
#pragma once

#include <string>

namespace spillway {

std::string version_text();

}  // namespace spillway
