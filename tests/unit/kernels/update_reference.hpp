// What optimizers compute for the elements of one parameter, in fp64 and without haste.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/graph.hpp"

namespace spillway::test {

inline constexpr double kBeta1 = 0.9, kBeta2 = 0.95, kEps = 1e-8, kDecay = 0.1, kLr = 1e-3;

// Returns the 256 numbers of bitsandbytes' create_dynamic_map(signed, 7, 8) in ascending order.
inline std::vector<double> dynamic_map(bool is_signed) {
  std::vector<double> map = {0, 1};
  for (int decade = 0; decade < 7; ++decade) {
    int const parts = (is_signed ? 1 : 2) << decade;
    for (int part = 0; part < parts; ++part) {
      double const middle = std::pow(10, decade - 6) * (0.1 + 0.9 * (part + 0.5) / parts);
      map.push_back(middle);
      if (is_signed) map.push_back(-middle);
    }
  }
  std::ranges::sort(map);
  return map;
}

// Rounds each number of a block to the nearest of the map's, times the block's largest magnitude.
// What is below zero stays below it.
inline void quantize(std::vector<double>& values, bool is_signed) {
  auto const map = dynamic_map(is_signed);
  for (std::size_t first = 0; first < values.size(); first += kQuantizedBlock) {
    auto const last = std::min(values.size(), first + kQuantizedBlock);
    double top = 0;
    for (auto i = first; i < last; ++i) top = std::max(top, std::abs(values[i]));
    for (auto i = first; i < last && top > 0; ++i) {
      double nearest = 2;
      for (double const number : map)
        if (values[i] >= 0 || number < 0)
          if (std::abs(number - values[i] / top) < std::abs(nearest - values[i] / top))
            nearest = number;
      values[i] = nearest * top;
    }
  }
}

struct Reference {
  OpKind kind;
  double momentum;
  bool decays;
  std::vector<double> w, m = {}, v = {};

  void step(std::vector<double> const& gradient, double scale, int step) {
    m.resize(w.size());
    v.resize(w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (kind == OpKind::lion)
        lion(i, gradient[i] * scale);
      else if (kind == OpKind::sgd)
        sgd(i, gradient[i] * scale);
      else
        adamw(i, gradient[i] * scale, step);
    }
    if (kind != OpKind::adamw_8bit) return;
    quantize(m, true);
    quantize(v, false);
  }

 private:
  void decay(std::size_t i) { w[i] -= kLr * (decays ? kDecay * w[i] : 0); }
  void adamw(std::size_t i, double g, int step) {
    m[i] = kBeta1 * m[i] + (1 - kBeta1) * g;
    v[i] = kBeta2 * v[i] + (1 - kBeta2) * g * g;
    double const m_hat = m[i] / (1 - std::pow(kBeta1, step));
    double const v_hat = v[i] / (1 - std::pow(kBeta2, step));
    decay(i);
    w[i] -= kLr * m_hat / (std::sqrt(v_hat) + kEps);
  }
  void lion(std::size_t i, double g) {
    double const direction = kBeta1 * m[i] + (1 - kBeta1) * g;
    decay(i);
    w[i] -= kLr * (direction > 0 ? 1 : direction < 0 ? -1 : 0);
    m[i] = kBeta2 * m[i] + (1 - kBeta2) * g;
  }
  void sgd(std::size_t i, double g) {
    m[i] = momentum * m[i] + g + (decays ? kDecay * w[i] : 0);
    w[i] -= kLr * m[i];
  }
};

}  // namespace spillway::test
