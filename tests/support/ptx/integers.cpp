// Implements sums, quotients, minima and maxima of integers.
#include <type_traits>

#include "tests/support/ptx/lanes.hpp"
#include "tests/support/ptx/wide.hpp"

namespace spillway::test::ptx {
namespace {

// Sums wrap around. C++ allows that of unsigned types only, and computes u16 as int unless told not
// to.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
T add(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <class T>
T subtract(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
std::int32_t add_saturating(std::int32_t a, std::int32_t b) {
  return clamped(std::int64_t{a} + b);
}
std::int32_t subtract_saturating(std::int32_t a, std::int32_t b) {
  return clamped(std::int64_t{a} - b);
}

// PTX leaves open what a division by zero gives. Here it is what GPUs give: a quotient of ones, and
// the dividend as the remainder.
template <class T>
T divide(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return subtract<T>(0, a);
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

template <class T>
T smaller(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
T negate(T a) {
  return subtract<T>(0, a);
}
template <class T>
T magnitude(T a) {
  return a < 0 ? negate(a) : a;
}

template <class T>
void add_type(Table& table, std::string const& type) {
  add_function<add<T>>(table, "add." + type);
  add_function<subtract<T>>(table, "sub." + type);
  add_function<divide<T>>(table, "div." + type);
  add_function<remainder<T>>(table, "rem." + type);
  add_function<smaller<T>>(table, "min." + type);
  add_function<larger<T>>(table, "max." + type);
  if constexpr (std::is_signed_v<T>) {
    add_function<negate<T>>(table, "neg." + type);
    add_function<magnitude<T>>(table, "abs." + type);
  }
}

}  // namespace

void add_integers(Table& table) {
  for_integers([&]<class T>(T, char const* type) { add_type<T>(table, type); });
  add_function<add_saturating>(table, "add.sat.s32");
  add_function<subtract_saturating>(table, "sub.sat.s32");
}

}  // namespace spillway::test::ptx
