// With `debug.poison`, bytes are filled with NaNs when their lifetime begins. In a build with
// AddressSanitizer, bytes that no item of the step has written yet cannot be touched either.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// A value with all bits set is a quiet NaN in every floating-point type and -1 in every integer
// type.
inline constexpr std::byte kNoNumber{0xff};
void fill_with_nan(Device& device, MemoryBytes const& bytes);

// Returns, for each item, the bytes whose lifetime begins when the item writes them. Only these may
// be filled, since an earlier buffer at the same place may still use the others.
std::vector<std::vector<Access>> first_writes(Program const& program);

}  // namespace spillway
