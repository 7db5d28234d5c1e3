// Implements setp, which compares numbers into predicates.
#include "tests/support/ptx/comparisons.hpp"

#include <type_traits>

#include "tests/support/ptx/float_values.hpp"

namespace spillway::test::ptx {
namespace {

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
  auto const result = compare(static_cast<Compare>(o.mode), a, b);
  write_results(warp, o, mask, result, ~result);
}

template <class T>
void add_type(Table& table, std::string const& type, std::size_t first, std::size_t last) {
  auto const width = static_cast<char>('0' + sizeof(T));
  for (auto i = first; i < last; ++i) {
    auto const which = static_cast<Compare>(i);
    auto const add = [&](std::string_view name, bool flushes) {
      add_comparison(table, which, name, flushes, type, width, setp<T>);
    };
    add(kCompareNames[i], false);
    if (std::is_same_v<T, float>) add(kCompareNames[i], true);
    if (std::is_unsigned_v<T> && type[0] == 'u' && i >= 2) add(kUnsignedNames[i], false);
  }
}

}  // namespace

void add_comparisons(Table& table) {
  constexpr std::size_t equality = 2, order = 6, all = std::size(kCompareNames);
  add_type<std::uint16_t>(table, "b16", 0, equality);
  add_type<std::uint32_t>(table, "b32", 0, equality);
  add_type<std::uint64_t>(table, "b64", 0, equality);
  for_integers([&]<class T>(T, char const* type) { add_type<T>(table, type, 0, order); });
  add_type<float>(table, "f32", 0, all);
  add_type<double>(table, "f64", 0, all);
}

}  // namespace spillway::test::ptx
