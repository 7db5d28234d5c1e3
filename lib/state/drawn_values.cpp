#include "state/drawn_values.hpp"

#include <algorithm>
#include <cmath>

#include "base/normal.hpp"
#include "base/philox.hpp"

namespace spillway {
namespace {

struct NormalDraws {
  std::uint64_t seed, parameter;
  float std;

  // Draws the two random numbers of counter `pair`. The loop that calls this function does not
  // contain the code itself, because GCC keeps a struct in memory if a simd loop declares it.
  void draw(std::uint64_t pair, float* even, float* odd) const {
    auto const block = philox(seed, parameter, pair);
    auto const normals = normal_pair(block.x[0], block.x[1]);
    *even = std * normals.cos;
    *odd = std * normals.sin;
  }
};

struct UniformDraws {
  std::uint64_t seed, parameter;
  float bound;

  void draw(std::uint64_t pair, float* even, float* odd) const {
    auto const block = philox(seed, parameter, pair);
    *even = between(block.x[0]);
    *odd = between(block.x[1]);
  }

 private:
  float between(std::uint32_t bits) const {
    return bound * std::fma(static_cast<float>(bits), 0x1p-31f, -1.0f);
  }
};

// Fills `to` with random elements of a parameter from element `first` on, which must be even.
template <class Draws>
void draw_elements(std::span<float> to, Draws const& draws, std::int64_t first) {
  auto* const out = to.data();
  auto const begin = static_cast<std::uint64_t>(first) / 2, pairs = to.size() / 2;
#pragma omp simd
  for (std::uint64_t i = 0; i < pairs; ++i) draws.draw(begin + i, out + 2 * i, out + 2 * i + 1);
  float unused;
  if (to.size() % 2 != 0) draws.draw(begin + pairs, &to.back(), &unused);
}

}  // namespace

void fill_drawn(std::span<float> values, Init const& init, DrawsOf const& draws,
                std::int64_t first) {
  auto const& [kind, deviation] = init;
  std::ranges::fill(values, kind == Init::Kind::ones ? 1.0f : 0.0f);
  auto const std = static_cast<float>(deviation);
  auto const bound = static_cast<float>(std::sqrt(3.0) * deviation);
  if (kind == Init::Kind::normal)
    draw_elements(values, NormalDraws{draws.seed, draws.parameter, std}, first);
  if (kind == Init::Kind::uniform)
    draw_elements(values, UniformDraws{draws.seed, draws.parameter, bound}, first);
}

}  // namespace spillway
