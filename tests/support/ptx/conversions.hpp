// What cvt makes of numbers of one kind. Numbers are given as their bits, from bit 0 on: those of
// whole numbers are extended to 64 bits, and so are those of the results.
#pragma once

#include <cstdint>

#include "tests/support/ptx/operation.hpp"
#include "tests/support/ptx/rounding.hpp"

namespace spillway::test::ptx {

using Raw = std::uint64_t[kLanes];

// The modes of a conversion: a Rounding, and whether negative results become zero (.relu).
inline constexpr std::uint8_t kCutsNegative = 0x80;
inline Rounding rounding_of(Operation const& o) {
  return static_cast<Rounding>(o.mode & ~kCutsNegative);
}

// An Operation's `immediate` is 1 where a float becomes a whole number, of whichever type.
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
