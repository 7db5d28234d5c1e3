// The last line of a small text file: a checksum of all before it, for half a file may look like a
// whole one. Not meant against an adversary.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

// With "# checksum: <16 hex digits of XXH3-64>\n" at its end.
std::string sealed(std::string text);

// Without it. Throws Error(damaged, "damaged, or cut short") where it does not fit the text.
std::string unsealed(std::string_view text);

}  // namespace spillway
