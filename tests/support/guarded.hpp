// Puts guards around bytes that a kernel gets, which show whether it has written beyond them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace spillway::test {

inline constexpr std::size_t kGuardBytes = 256;
// What was never written has these bytes, which are a NaN in every floating type.
inline constexpr std::byte kPoison{0xFF};

// Returns a copy of `bytes` between two guard zones of kGuardBytes each.
std::vector<std::byte> guarded(std::vector<std::byte> const& bytes);

// Returns the bytes between the guard zones. Fails the test, with the name `what`, if these
// changed.
std::vector<std::byte> unguarded(std::vector<std::byte> const& bytes, std::string const& what);

}  // namespace spillway::test
