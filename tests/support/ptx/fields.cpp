// Implements the opcodes for parts of registers: fields of bits, bytes, and funnel shifts, which
// shift bits of one register into another.
#include <algorithm>
#include <bit>

#include "tests/support/ptx/lanes.hpp"
#include "tests/support/ptx/shifts.hpp"

namespace spillway::test::ptx {
namespace {

// Returns the number of the highest bit that differs from the sign, or all ones if there is none.
template <class T>
U32 find_highest(T a) {
  using Bits = std::make_unsigned_t<T>;
  auto const bits = static_cast<Bits>(std::is_signed_v<T> && a < 0 ? ~a : a);
  return bits == 0 ? ~U32{0}
                   : static_cast<U32>(8 * sizeof(T) - 1) - static_cast<U32>(std::countl_zero(bits));
}

// Positions and lengths have 8 bits. A field that ends beyond `a` continues with the sign of `a`.
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

// Each mode of prmt has four selectors, of which the two lowest bits of an operand choose one.
struct PermuteMode {
  std::string_view name;
  std::uint16_t selectors[4];
};
constexpr PermuteMode kPermuteModes[] = {
    {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
    {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
    {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
template <std::size_t mode>
U32 permute_by_mode(U32 a, U32 b, U32 choice) {
  return permute_bytes(a, b, kPermuteModes[mode].selectors[choice & 3]);
}

// A funnel shifts the 64 bits that have b above a.
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

// Returns by how much `a` must be shifted so that the bit of find_highest() becomes its highest
// bit.
template <class T>
U32 shift_to_highest(T a) {
  auto const found = find_highest(a);
  return found == ~U32{0} ? found : static_cast<U32>(8 * sizeof(T) - 1) - found;
}

template <std::size_t... modes>
void add_permutations(Table& table, std::index_sequence<modes...> /*modes*/) {
  (add_function<permute_by_mode<modes>>(table,
                                        "prmt.b32." + std::string(kPermuteModes[modes].name)),
   ...);
}

template <class T>
void add_signed(Table& table, std::string const& type) {
  add_function<extract_field<T>>(table, "bfe." + type);
  add_function<find_highest<T>>(table, "bfind." + type);
  add_function<shift_to_highest<T>>(table, "bfind.shiftamt." + type);
}

}  // namespace

void add_fields(Table& table) {
  add_signed<std::uint32_t>(table, "u32");
  add_signed<std::uint64_t>(table, "u64");
  add_signed<std::int32_t>(table, "s32");
  add_signed<std::int64_t>(table, "s64");
  add_function<permute_bytes>(table, "prmt.b32");
  add_permutations(table, std::make_index_sequence<std::size(kPermuteModes)>());
  add_function<funnel_left_wrap>(table, "shf.l.wrap.b32");
  add_function<funnel_right_wrap>(table, "shf.r.wrap.b32");
  add_function<funnel_left_clamp>(table, "shf.l.clamp.b32");
  add_function<funnel_right_clamp>(table, "shf.r.clamp.b32");
  add_function<insert_field<std::uint32_t>>(table, "bfi.b32");
  add_function<insert_field<std::uint64_t>>(table, "bfi.b64");
}

}  // namespace spillway::test::ptx
