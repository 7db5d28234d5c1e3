// Bits: logic, shifts, counts, fields.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {
namespace {

using U32 = std::uint32_t;

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

// Shifts by all bits or more leave zeros, or copies of the sign.
template <class T>
T shift_left(T a, U32 count) {
  constexpr U32 bits = 8 * sizeof(T);
  return count >= bits ? T{0} : static_cast<T>(a << count);
}
template <class T>
T shift_right(T a, U32 count) {
  constexpr U32 bits = 8 * sizeof(T);
  if (count < bits) return static_cast<T>(a >> count);
  return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
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
// The highest bit that differs from the sign; all ones if there is none.
template <class T>
U32 find_highest(T a) {
  using Bits = std::make_unsigned_t<T>;
  auto const bits = static_cast<Bits>(std::is_signed_v<T> && a < 0 ? ~a : a);
  return bits == 0 ? ~U32{0} : static_cast<U32>(8 * sizeof(T) - 1) - leading_zeros(bits);
}

// Positions and lengths have 8 bits. Beyond the end of `a` its sign goes on, if it has one.
template <class T>
T extract_field(T a, U32 position, U32 length) {
  constexpr U32 bits = 8 * sizeof(T);
  position &= 0xff;
  length &= 0xff;
  if (length == 0) return 0;
  auto const sign_at = std::min(position + length - 1, bits - 1);
  bool const is_negative = std::is_signed_v<T> && (a >> sign_at & 1) != 0;
  auto const found = static_cast<std::make_unsigned_t<T>>(shift_right(a, position));
  auto const kept = std::min(length, position < bits ? bits - position : 0);
  auto const mask = shift_left(~std::make_unsigned_t<T>{0}, kept);
  return static_cast<T>(is_negative ? found | mask : found & ~mask);
}
template <class T>
T insert_field(T field, T into, U32 position, U32 length) {
  position &= 0xff;
  length &= 0xff;
  auto const ones = static_cast<T>(~shift_left(static_cast<T>(~T{0}), length));
  auto const mask = shift_left(ones, position);
  return static_cast<T>((into & ~mask) | (shift_left(field, position) & mask));
}

// Each digit of the selector picks one of eight bytes; its highest bit copies that byte's sign.
U32 permute_bytes(U32 a, U32 b, U32 selector) {
  auto const bytes = std::uint64_t{b} << 32 | a;
  U32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    auto const digit = selector >> (4 * i) & 15;
    auto byte = static_cast<U32>(bytes >> (8 * (digit & 7)) & 0xff);
    if ((digit & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

// A funnel shifts the pair b:a.
U32 funnel_left(U32 a, U32 b, U32 count) {
  return static_cast<U32>(((std::uint64_t{b} << 32 | a) << count) >> 32);
}
U32 funnel_right(U32 a, U32 b, U32 count) {
  return static_cast<U32>((std::uint64_t{b} << 32 | a) >> count);
}
U32 funnel_left_wrap(U32 a, U32 b, U32 count) {
  return funnel_left(a, b, count & 31);
}
U32 funnel_right_wrap(U32 a, U32 b, U32 count) {
  return funnel_right(a, b, count & 31);
}
U32 funnel_left_clamp(U32 a, U32 b, U32 count) {
  return funnel_left(a, b, std::min(count, 32u));
}
U32 funnel_right_clamp(U32 a, U32 b, U32 count) {
  return funnel_right(a, b, std::min(count, 32u));
}

// Bit n of the immediate is the result where the bits of a, b and c are those of n.
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
  add_function<insert_field<T>>(table, "bfi." + type);
}
template <class T>
void add_fields(Table& table, std::string const& type) {
  add_function<extract_field<T>>(table, "bfe." + type);
  add_function<find_highest<T>>(table, "bfind." + type);
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
  add_fields<std::uint32_t>(table, "u32");
  add_fields<std::uint64_t>(table, "u64");
  add_fields<std::int32_t>(table, "s32");
  add_fields<std::int64_t>(table, "s64");
  add_function<permute_bytes>(table, "prmt.b32");
  add_function<funnel_left_wrap>(table, "shf.l.wrap.b32");
  add_function<funnel_right_wrap>(table, "shf.r.wrap.b32");
  add_function<funnel_left_clamp>(table, "shf.l.clamp.b32");
  add_function<funnel_right_clamp>(table, "shf.r.clamp.b32");
  table.add("lop3.b32", "4=444i", any_logic);
}

}  // namespace spillway::test::ptx
