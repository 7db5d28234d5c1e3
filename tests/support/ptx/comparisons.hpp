// Contains what setp does for every type: it compares all lanes, and combines the results with a
// predicate.
#pragma once

#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {

// The names with a u at their end also hold if one of two floats is NaN.
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
  geu,
  num,
  nan
};
inline constexpr std::string_view kCompareNames[] = {
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
// Comparisons of unsigned integers have these names, too.
inline constexpr std::string_view kUnsignedNames[] = {"", "", "lo", "ls", "hi", "hs"};

enum class Combine : std::uint8_t { none, and_with, or_with, xor_with };
inline constexpr std::string_view kCombineNames[] = {"", ".and", ".or", ".xor"};

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

inline Lanes combined(Combine how, Lanes result, Lanes other) {
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

// Writes both results of a setp, after each was combined with the predicate of the Operation.
inline void write_results(Warp& warp, Operation const& o, Lanes mask, Lanes first, Lanes second) {
  auto const how = static_cast<Combine>(o.immediate);
  auto const other = read_predicate(warp, o, 2);
  auto const known = warp.known[o.from[0]] & warp.known[o.from[1]] & warp.known[o.from[2]];
  write_predicate(warp, o.to, combined(how, first, other), mask);
  warp.set_known(o.to, known, mask);
  if (o.to2 == 0) return;
  write_predicate(warp, o.to2, combined(how, second, other), mask);
  warp.set_known(o.to2, known, mask);
}

// Adds all forms of one comparison: alone, and combined with a predicate in each possible way.
inline void add_comparison(Table& table, Compare which, std::string_view name, bool flushes,
                           std::string const& type, char width, Execute execute) {
  for (std::size_t how = 0; how < std::size(kCombineNames); ++how) {
    auto const opcode = "setp." + std::string(name) + std::string(kCombineNames[how]) +
                        (flushes ? ".ftz." : ".") + type;
    auto& o = table.add(opcode, "pq=" + std::string(2, width) + (how == 0 ? "" : "p"), execute);
    o.mode = static_cast<std::uint8_t>(which);
    o.flushes = flushes;
    o.immediate = static_cast<std::int64_t>(how);
    o.tracks_known = true;
  }
}

}  // namespace spillway::test::ptx
