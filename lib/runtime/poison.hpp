// `debug.poison`: bytes whose lifetime begins hold no number, and in builds with AddressSanitizer
// bytes that no item of the step has written yet cannot be touched.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// All bits set: a quiet NaN in every floating-point type, -1 in every integer.
void fill_with_nan(std::span<std::byte> bytes);

// By item: the bytes at which a lifetime begins with this item's write. Only these may be filled:
// other bytes of the buffer may still be in use by whoever had them before.
std::vector<std::vector<Access>> first_writes(Program const& program);

// AddressSanitizer's view of bytes; nothing in other builds.
void forbid_access(std::span<std::byte const> bytes);
void allow_access(std::span<std::byte const> bytes);

}  // namespace spillway
