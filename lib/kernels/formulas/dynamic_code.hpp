// Computes the codes of 8 bits in which AdamW's moments are stored: the dynamic map of bitsandbytes
// (Dettmers, arXiv:1511.04561; Dettmers et al., arXiv:2110.02861). A code stands for a number of
// magnitude up to 1. Its range has seven decades, each cut into equal parts, in the middle of which
// the numbers lie; a decade has twice as many parts as the one below it. Zero and 1 are numbers,
// too. With signs, the top decade has 64 parts and all but 1 are there with both signs; without, it
// has 128. No table is needed, and all devices get the same bits.
#pragma once

#include <bit>
#include <cstdint>

#include "base/function.hpp"

namespace spillway {

template <bool kSigned>
struct DynamicCode {
  // Numbers are counted from zero, which has number 0. The parts of a decade have `number + kBias`
  // from a power of two to the next.
  static constexpr int kBias = kSigned ? 0 : 1;
  static constexpr int kOne = kSigned ? 128 : 255;  // the number of 1
  static constexpr int kZero = kSigned ? 127 : 0;   // the code of zero

  SPILLWAY_FUNCTION static float decode(std::uint8_t code) {
    int const at = static_cast<int>(code) - kZero, number = at < 0 ? -at : at;
    float const magnitude = value(number);
    return at < 0 ? -magnitude : magnitude;
  }

  // Returns the code of the number that is nearest to `share`, whose magnitude is at most 1. What
  // is below zero never becomes zero, as in bitsandbytes.
  SPILLWAY_FUNCTION static std::uint8_t encode(float share) {
    int const number = nearest(kSigned && share < 0 ? -share : share);
    int const at_least_1 = number < 1 ? 1 : number;
    int const below = at_least_1 < kOne ? at_least_1 : kOne - 1;
    return static_cast<std::uint8_t>(kZero + (kSigned && share < 0 ? -below : number));
  }

 private:
  static constexpr int kParts = kSigned ? 1 : 2;  // of the lowest decade

  static constexpr int bits_of(float power) { return std::bit_cast<int>(power); }
  // Returns 10^(6 - decade), the reciprocal of the upper end of a decade. It is a sum of
  // differences of bits, since choices between numbers would keep GCC from vectorising loops over
  // elements.
  SPILLWAY_FUNCTION static float reciprocal(int decade) {
    constexpr int bits0 = bits_of(1e6f), bits1 = bits_of(1e5f), bits2 = bits_of(1e4f),
                  bits3 = bits_of(1e3f), bits4 = bits_of(1e2f), bits5 = bits_of(1e1f),
                  bits6 = bits_of(1.0f);
    return std::bit_cast<float>(
        bits0 + (decade > 0 ? 1 : 0) * (bits1 - bits0) + (decade > 1 ? 1 : 0) * (bits2 - bits1) +
        (decade > 2 ? 1 : 0) * (bits3 - bits2) + (decade > 3 ? 1 : 0) * (bits4 - bits3) +
        (decade > 4 ? 1 : 0) * (bits5 - bits4) + (decade > 5 ? 1 : 0) * (bits6 - bits5));
  }

  // The fraction of a float with the value 2 place + 1 says where in its decade a part's middle is.
  SPILLWAY_FUNCTION static float value(int number) {
    int const place = number + kBias;
    auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(2 * place + 1));
    int const decade = static_cast<int>(bits >> 23) - 128 - kBias;
    float const fraction = std::bit_cast<float>((bits & 0x7fffffu) | 0x3f800000u) - 1.0f;
    float const middle = (0.1f + 0.9f * fraction) / reciprocal(decade);
    return number == kOne ? 1.0f : number == 0 ? 0.0f : middle;
  }

  SPILLWAY_FUNCTION static int nearest(float magnitude) {
    // Half-way points between a decade's least number and the greatest below it.
    constexpr float parts1 = kParts;
    constexpr float least1 = 1e-6f * (1 + 0.9f / parts1), least2 = 1e-5f * (1 + 0.45f / parts1),
                    least3 = 1e-4f * (1 + 0.225f / parts1), least4 = 1e-3f * (1 + 0.1125f / parts1),
                    least5 = 1e-2f * (1 + 0.05625f / parts1),
                    least6 = 1e-1f * (1 + 0.028125f / parts1);
    int const decade = (magnitude > least1 ? 1 : 0) + (magnitude > least2 ? 1 : 0) +
                       (magnitude > least3 ? 1 : 0) + (magnitude > least4 ? 1 : 0) +
                       (magnitude > least5 ? 1 : 0) + (magnitude > least6 ? 1 : 0);
    int const parts = kParts << decade;
    float const in_decade = magnitude * reciprocal(decade) - 0.1f;
    int const part = static_cast<int>(in_decade * (static_cast<float>(parts) / 0.9f));
    int const first = parts - kBias;  // the number of the decade's first part
    int const number = first + (part < parts ? part : parts - 1);
    constexpr float half_of_least = kSigned ? 0.275e-6f : 0.1625e-6f;
    constexpr float below_one = kSigned ? 1 - 0.225f / 64 : 1 - 0.225f / 128;
    int const above_zero = magnitude > half_of_least ? number : 0;
    return magnitude > below_one ? kOne : above_zero;
  }
};

using SignedCode = DynamicCode<true>;
using UnsignedCode = DynamicCode<false>;

}  // namespace spillway
