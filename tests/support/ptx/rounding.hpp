// Rounds as instructions ask for it.
#pragma once

#include <cstdint>
#include <string_view>

namespace spillway::test::ptx {

enum class Rounding : std::uint8_t { nearest, zero, down, up, nearest_away };

struct RoundingName {
  Rounding rounding;
  std::string_view name, integer_name;  // such as .rn, and .rni for rounding to a whole number
};
inline constexpr RoundingName kRoundings[] = {{Rounding::nearest, ".rn", ".rni"},
                                              {Rounding::zero, ".rz", ".rzi"},
                                              {Rounding::down, ".rm", ".rmi"},
                                              {Rounding::up, ".rp", ".rpi"}};

// While a RoundingScope lives, arithmetic of this thread rounds so. The compiler does not know
// that, so operands and results must be kept_in_memory() meanwhile.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding);
  RoundingScope(RoundingScope const&) = delete;
  RoundingScope& operator=(RoundingScope const&) = delete;
  ~RoundingScope();

 private:
  int m_before;
};

// Keeps the compiler from moving what is computed with a value across this call.
template <class T>
void kept_in_memory(T& value) {
  asm volatile("" : "+m"(value));
}

struct FloatFormat {
  int exponent_bits, fraction_bits;
};
inline constexpr FloatFormat kF16{5, 10}, kBf16{8, 7}, kTf32{8, 10};

// Returns the bits of the number that x becomes in a format of at most 32 bits. A NaN becomes the
// one whose bits are all set but the sign.
std::uint32_t round_to(double x, FloatFormat format, Rounding rounding);
// Returns exactly the number that such bits stand for.
double value_of(std::uint32_t bits, FloatFormat format);

double round_to_whole(double x, Rounding rounding);

// Returns a * b + c, of factors with less than 27 bits. An inexact result is made odd: rounded once
// more, to half the bits of a double or fewer, it then becomes what the exact result would.
double multiply_add_to_odd(double a, double b, double c);

}  // namespace spillway::test::ptx
