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
    bool const is_negative = kSigned && share < 0;
    int const number = nearest(is_negative ? -share : share);
    int const below = number < 1 ? 1 : number > kOne - 1 ? kOne - 1 : number;
    return static_cast<std::uint8_t>(is_negative ? kZero - below : kZero + number);
  }

 private:
  static constexpr int kParts = kSigned ? 1 : 2;  // of the lowest decade

  // Returns 10^(6 - decade), the reciprocal of the upper end of a decade.
  SPILLWAY_FUNCTION static float reciprocal(int decade) {
    float power = decade < 1 ? 1e6f : 1e5f;
    power = decade < 2 ? power : 1e4f;
    power = decade < 3 ? power : 1e3f;
    power = decade < 4 ? power : 1e2f;
    power = decade < 5 ? power : 1e1f;
    return decade < 6 ? power : 1.0f;
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
    if (magnitude > below_one) return kOne;
    return magnitude > half_of_least ? number : 0;
  }
};

using SignedCode = DynamicCode<true>;
using UnsignedCode = DynamicCode<false>;

}  // namespace spillway
