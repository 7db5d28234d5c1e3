// A seal is the last line of a small text file: a checksum of all before it. It shows that the text
// is complete, since half a text may look whole. It does not protect against an adversary.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

// Returns the text with "# checksum: <16 hex digits of XXH3-64>\n" at its end.
std::string sealed(std::string text);

// Returns the text without its seal. Throws Error(damaged, "damaged, or cut short") if the seal is
// missing or does not fit the text.
std::string unsealed(std::string_view text);

}  // namespace spillway
