#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "kernels/formulas/rope.hpp"

namespace spillway {
namespace {

// Returns what is wrong with the attributes, or an empty string if nothing is.
std::string objection(RopeAttributes const& a) {
  if (a.head_size < 2 || a.head_size % 2 != 0 || a.head_size > 2 * kMostRopePairs)
    return fmt::format("heads of {} columns: there must be an even number, at most {}", a.head_size,
                       2 * kMostRopePairs);
  if (!(a.theta > 0)) return fmt::format("theta {}: it must be positive", a.theta);
  if (a.scaling != RopeScaling::none && !(a.factor > 0))
    return fmt::format("factor {}: it must be positive", a.factor);
  if (a.scaling == RopeScaling::llama3 &&
      !(0 < a.low_freq_factor && a.low_freq_factor < a.high_freq_factor))
    return fmt::format("low_freq_factor {} and high_freq_factor {}: the second must be larger",
                       a.low_freq_factor, a.high_freq_factor);
  return {};
}

// This scaling divides a frequency by `factor` if its wavelength exceeds original_max_position /
// low_freq_factor, keeps it if its wavelength is below original_max_position / high_freq_factor,
// and interpolates in between.
float llama3(float frequency, RopeAttributes const& a) {
  auto const context = static_cast<float>(a.original_max_position);
  auto const factor = static_cast<float>(a.factor), low = static_cast<float>(a.low_freq_factor);
  auto const high_less_low = static_cast<float>(a.high_freq_factor - a.low_freq_factor);
  float const wave = 1.0f / frequency * static_cast<float>(2 * M_PI);
  auto const longest = static_cast<double>(a.original_max_position) / a.low_freq_factor;
  auto const shortest = static_cast<double>(a.original_max_position) / a.high_freq_factor;
  if (wave > static_cast<float>(longest)) return frequency / factor;
  if (wave < static_cast<float>(shortest)) return frequency;
  float const smooth = (1.0f / wave * context - low) / high_less_low;
  return (1.0f - smooth) * frequency / factor + smooth * frequency;
}

float scaled(float frequency, RopeAttributes const& a) {
  switch (a.scaling) {
    case RopeScaling::none:
      break;
    case RopeScaling::linear:
      return frequency / static_cast<float>(a.factor);
    case RopeScaling::llama3:
      return llama3(frequency, a);
  }
  return frequency;
}

}  // namespace

RopeFrequencies rope_frequencies(Op const& op) {
  auto const& a = attributes_of<RopeAttributes>(op);
  if (auto const what = objection(a); !what.empty())
    throw Error(Status::bad_input, fmt::format("{}: rotary positions with {}", op.name, what));
  RopeFrequencies frequencies{};
  for (std::int64_t j = 0; j < a.head_size / 2; ++j) {
    float const exponent = static_cast<float>(2 * j) / static_cast<float>(a.head_size);
    auto const power = static_cast<float>(std::pow(a.theta, static_cast<double>(exponent)));
    frequencies.of_pair[j] = scaled(1.0f / power, a);
  }
  return frequencies;
}

}  // namespace spillway
