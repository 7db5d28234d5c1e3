// Implements mul, mad and sad of integers.
#include <type_traits>

#include "tests/support/ptx/lanes.hpp"
#include "tests/support/ptx/wide.hpp"

namespace spillway::test::ptx {
namespace {

template <class T>
Wide<T> wide(T a, T b) {
  return Wide<T>{a} * Wide<T>{b};
}

template <class T>
T sum(T a, T b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <class T>
T low_plus(T a, T b, T c) {
  return sum(low(a, b), c);
}
template <class T>
T high_plus(T a, T b, T c) {
  return sum(high(a, b), c);
}
template <class T>
Wide<T> wide_plus(T a, T b, Wide<T> c) {
  return sum<Wide<T>>(wide(a, b), c);
}
std::int32_t high_plus_saturating(std::int32_t a, std::int32_t b, std::int32_t c) {
  return clamped(std::int64_t{high(a, b)} + c);
}
template <class T>
T difference_plus(T a, T b, T c) {
  auto const larger = a < b ? b : a, smaller = a < b ? a : b;
  auto const difference = static_cast<std::uint64_t>(larger) - static_cast<std::uint64_t>(smaller);
  return static_cast<T>(static_cast<std::uint64_t>(c) + difference);
}

template <class T>
void add_type(Table& table, std::string const& type) {
  add_function<low<T>>(table, "mul.lo." + type);
  add_function<high<T>>(table, "mul.hi." + type);
  add_function<low_plus<T>>(table, "mad.lo." + type);
  add_function<high_plus<T>>(table, "mad.hi." + type);
  add_function<difference_plus<T>>(table, "sad." + type);
  if constexpr (sizeof(T) < 8) {
    add_function<wide<T>>(table, "mul.wide." + type);
    add_function<wide_plus<T>>(table, "mad.wide." + type);
  }
}

}  // namespace

void add_products(Table& table) {
  for_integers([&]<class T>(T, char const* type) { add_type<T>(table, type); });
  add_function<high_plus_saturating>(table, "mad.hi.sat.s32");
}

}  // namespace spillway::test::ptx
