// With `debug.poison`, bytes hold no number when their lifetime begins. With AddressSanitizer,
// bytes that no item of the step has written yet cannot be touched either.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// With all bits set this is a quiet NaN in every floating-point type and -1 in every integer type.
inline constexpr std::byte kNoNumber{0xff};
void fill_with_nan(Device& device, MemoryBytes const& bytes);

// Returns, for each item, the bytes whose lifetime begins when it writes them. Only these may be
// filled, since other bytes of the buffer may still be in use by an earlier buffer.
std::vector<std::vector<Access>> first_writes(Program const& program);

}  // namespace spillway
