// Converts numbers of one kind into numbers of another one. They are given and returned as their
// bits, from bit 0 on; those of whole numbers are extended to 64 bits.
#pragma once

#include <cstdint>

#include "tests/support/ptx/operation.hpp"
#include "tests/support/ptx/rounding.hpp"

namespace spillway::test::ptx {

using Raw = std::uint64_t[kLanes];

// The mode of a conversion's Operation is a Rounding, with this bit if negative results become zero
// (.relu).
inline constexpr std::uint8_t kCutsNegative = 0x80;
inline Rounding rounding_of(Operation const& o) {
  return static_cast<Rounding>(o.mode & ~kCutsNegative);
}

// The `immediate` of the Operation is 1 if a float becomes a whole number, even one of a float
// type.
void float_to_float(Raw& to, Raw& from, Operation const& o);
void float_to_whole(Raw& to, Raw& from, Operation const& o);
void whole_to_float(Raw& to, Raw& from, Operation const& o);
void whole_to_whole(Raw& to, Raw& from, Operation const& o);

inline FloatFormat format_of(Type type) {
  return type == Type::tf32 ? kTf32 : type == Type::bf16 || type == Type::bf16x2 ? kBf16 : kF16;
}

inline bool is_float(Type type) {
  return facts(type).kind == Kind::floating;
}
inline bool is_signed(Type type) {
  return facts(type).kind == Kind::is_signed;
}

}  // namespace spillway::test::ptx
