// setp.
#include <type_traits>

#include "tests/support/ptx/float_values.hpp"
#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {
namespace {

enum class Compare : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,  // also true if one is NaN
  num,
  nan
};
constexpr std::string_view kCompareNames[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                              "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
// The same of integers without sign.
constexpr std::string_view kUnsignedNames[] = {"", "", "lo", "ls", "hi", "hs"};

enum class Combine : std::uint8_t { none, and_with, or_with, xor_with };
constexpr std::string_view kCombineNames[] = {"", ".and", ".or", ".xor"};

template <class T, class F>
Lanes each(T const* a, T const* b, F const& f) {
  alignas(64) bool holds[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) holds[lane] = f(a[lane], b[lane]);
  Lanes result = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) result |= Lanes{holds[lane]} << lane;
  return result;
}

template <class T>
Lanes compare(Compare which, T const* a, T const* b) {
  auto const is_nan = [](T x, T y) { return x != x || y != y; };
  switch (which) {
    case Compare::eq:
      return each(a, b, [](T x, T y) { return x == y; });
    case Compare::ne:
      return each(a, b, [](T x, T y) { return x < y || x > y; });
    case Compare::lt:
      return each(a, b, [](T x, T y) { return x < y; });
    case Compare::le:
      return each(a, b, [](T x, T y) { return x <= y; });
    case Compare::gt:
      return each(a, b, [](T x, T y) { return x > y; });
    case Compare::ge:
      return each(a, b, [](T x, T y) { return x >= y; });
    case Compare::equ:
      return ~compare(Compare::ne, a, b);
    case Compare::neu:
      return ~compare(Compare::eq, a, b);
    case Compare::ltu:
      return ~compare(Compare::ge, a, b);
    case Compare::leu:
      return ~compare(Compare::gt, a, b);
    case Compare::gtu:
      return ~compare(Compare::le, a, b);
    case Compare::geu:
      return ~compare(Compare::lt, a, b);
    case Compare::num:
      return ~each(a, b, is_nan);
    default:
      return each(a, b, is_nan);
  }
}

Lanes combined(Combine how, Lanes result, Lanes other) {
  switch (how) {
    case Combine::and_with:
      return result & other;
    case Combine::or_with:
      return result | other;
    case Combine::xor_with:
      return result ^ other;
    default:
      return result;
  }
}

// The second result is the first before it was combined, negated, and then combined.
void set(Warp& warp, Operation const& o, Lanes mask, Lanes result) {
  auto const how = static_cast<Combine>(o.immediate);
  auto const other = warp.predicate(o.from[2]) ^ ((o.negated & 4) != 0 ? kAllLanes : 0);
  auto const known = warp.known[o.from[0]] & warp.known[o.from[1]] & warp.known[o.from[2]];
  write_predicate(warp, o.to, combined(how, result, other), mask);
  warp.set_known(o.to, known, mask);
  if (o.to2 == 0) return;
  write_predicate(warp, o.to2, combined(how, ~result, other), mask);
  warp.set_known(o.to2, known, mask);
}

template <class T>
void setp(Warp& warp, Operation const& o, Lanes mask) {
  auto const* a = warp.lanes<T const>(o.from[0]);
  auto const* b = warp.lanes<T const>(o.from[1]);
  T without_subnormals[2][kLanes];
  if constexpr (std::is_same_v<T, float>) {
    if (o.flushes) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        without_subnormals[0][lane] = flushed(a[lane]);
        without_subnormals[1][lane] = flushed(b[lane]);
      }
      a = without_subnormals[0];
      b = without_subnormals[1];
    }
  }
  set(warp, o, mask, compare(static_cast<Compare>(o.mode), a, b));
}

void add_form(Table& table, std::string const& compare, std::string const& type, char width,
              std::uint8_t mode, bool flushes, Execute execute) {
  for (std::size_t how = 0; how < std::size(kCombineNames); ++how) {
    auto const opcode =
        "setp." + compare + std::string(kCombineNames[how]) + (flushes ? ".ftz." : ".") + type;
    auto& o = table.add(opcode, "pq=" + std::string(2, width) + (how == 0 ? "" : "p"), execute);
    o.mode = mode;
    o.flushes = flushes;
    o.immediate = static_cast<std::int64_t>(how);
    o.tracks_known = true;
  }
}

template <class T>
void add_type(Table& table, std::string const& type, std::size_t first, std::size_t last) {
  auto const width = static_cast<char>('0' + sizeof(T));
  for (auto i = first; i < last; ++i) {
    auto const mode = static_cast<std::uint8_t>(i);
    add_form(table, std::string(kCompareNames[i]), type, width, mode, false, setp<T>);
    if (std::is_same_v<T, float>)
      add_form(table, std::string(kCompareNames[i]), type, width, mode, true, setp<T>);
    if (std::is_unsigned_v<T> && type[0] == 'u' && i >= 2)
      add_form(table, std::string(kUnsignedNames[i]), type, width, mode, false, setp<T>);
  }
}

}  // namespace

void add_comparisons(Table& table) {
  constexpr std::size_t equality = 2, order = 6, all = std::size(kCompareNames);
  add_type<std::uint16_t>(table, "b16", 0, equality);
  add_type<std::uint32_t>(table, "b32", 0, equality);
  add_type<std::uint64_t>(table, "b64", 0, equality);
  add_type<std::uint16_t>(table, "u16", 0, order);
  add_type<std::uint32_t>(table, "u32", 0, order);
  add_type<std::uint64_t>(table, "u64", 0, order);
  add_type<std::int16_t>(table, "s16", 0, order);
  add_type<std::int32_t>(table, "s32", 0, order);
  add_type<std::int64_t>(table, "s64", 0, order);
  add_type<float>(table, "f32", 0, all);
  add_type<double>(table, "f64", 0, all);
}

}  // namespace spillway::test::ptx
