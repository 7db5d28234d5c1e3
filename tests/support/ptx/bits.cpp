// Implements the opcodes for logic, shifts and counts of bits.
#include <bit>

#include "tests/support/ptx/lanes.hpp"
#include "tests/support/ptx/shifts.hpp"

namespace spillway::test::ptx {
namespace {

template <class T>
T both(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
T either(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
T differs(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
T inverse(T a) {
  return static_cast<T>(~a);
}

template <class T>
U32 count_ones(T a) {
  return static_cast<U32>(std::popcount(a));
}
template <class T>
U32 leading_zeros(T a) {
  return static_cast<U32>(std::countl_zero(a));
}
template <class T>
T reversed(T a) {
  T result = 0;
  for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit)
    result = static_cast<T>(result << 1 | (a >> bit & 1));
  return result;
}
// lop3 looks every bit up in a table: where the bits of a, b and c form the number n, bit n of the
// immediate is the result.
void any_logic(Warp& warp, Operation const& o, Lanes mask) {
  auto const* const a = warp.lanes<U32 const>(o.from[0]);
  auto const* const b = warp.lanes<U32 const>(o.from[1]);
  auto const* const c = warp.lanes<U32 const>(o.from[2]);
  alignas(64) U32 values[kLanes] = {};
  for (U32 n = 0; n < 8; ++n) {
    if ((o.immediate >> n & 1) == 0) continue;
    auto const flip_a = (n & 4) != 0 ? 0 : ~U32{0};
    auto const flip_b = (n & 2) != 0 ? 0 : ~U32{0};
    auto const flip_c = (n & 1) != 0 ? 0 : ~U32{0};
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] |= (a[lane] ^ flip_a) & (b[lane] ^ flip_b) & (c[lane] ^ flip_c);
  }
  write_lanes(warp, o.to, values, mask);
}

template <class T>
void add_logic(Table& table, std::string const& type) {
  add_function<both<T>>(table, "and." + type);
  add_function<either<T>>(table, "or." + type);
  add_function<differs<T>>(table, "xor." + type);
  add_function<inverse<T>>(table, "not." + type);
  add_function<shift_left<T>>(table, "shl." + type);
  add_function<shift_right<T>>(table, "shr." + type);
}
template <class T>
void add_counts(Table& table, std::string const& type) {
  add_function<count_ones<T>>(table, "popc." + type);
  add_function<leading_zeros<T>>(table, "clz." + type);
  add_function<reversed<T>>(table, "brev." + type);
}
template <class T>
void add_shift(Table& table, std::string const& type) {
  add_function<shift_right<T>>(table, "shr." + type);
}

}  // namespace

void add_bits(Table& table) {
  add_logic<std::uint16_t>(table, "b16");
  add_logic<std::uint32_t>(table, "b32");
  add_logic<std::uint64_t>(table, "b64");
  add_shift<std::uint16_t>(table, "u16");
  add_shift<std::uint32_t>(table, "u32");
  add_shift<std::uint64_t>(table, "u64");
  add_shift<std::int16_t>(table, "s16");
  add_shift<std::int32_t>(table, "s32");
  add_shift<std::int64_t>(table, "s64");
  add_counts<std::uint32_t>(table, "b32");
  add_counts<std::uint64_t>(table, "b64");
  table.add("lop3.b32", "4=444i", any_logic);
}

}  // namespace spillway::test::ptx
