// What torch.optim.Adafactor and torch.optim.Muon, beside AdamW, compute for one parameter, in fp64
// and without haste.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "graph/graph.hpp"

namespace spillway::test {

inline constexpr double kWholeLr = 1e-2, kWholeDecay = 0.1;

// A matrix of numbers, row by row.
struct Numbers {
  std::int64_t rows, columns;
  std::vector<double> at;

  double operator()(std::int64_t i, std::int64_t j) const { return at[index(i, j)]; }
  std::size_t index(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * columns + j);
  }
  Numbers transposed() const {
    Numbers result{columns, rows, at};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) result.at[result.index(j, i)] = (*this)(i, j);
    return result;
  }
};

inline Numbers product(Numbers const& a, Numbers const& b) {
  Numbers c{a.rows, b.columns, std::vector<double>(static_cast<std::size_t>(a.rows * b.columns))};
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t j = 0; j < b.columns; ++j) c.at[c.index(i, j)] += a(i, k) * b(k, j);
  return c;
}
inline Numbers sum(double alpha, Numbers const& a, double beta, Numbers b) {
  for (std::size_t i = 0; i < b.at.size(); ++i) b.at[i] = alpha * a.at[i] + beta * b.at[i];
  return b;
}
inline double root_mean_square(std::vector<double> const& values) {
  double squares = 0;
  for (double const value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

inline Numbers orthogonal(Numbers x) {
  if (x.rows > x.columns) return orthogonal(x.transposed()).transposed();
  double const norm = root_mean_square(x.at) * std::sqrt(static_cast<double>(x.at.size()));
  for (double& value : x.at) value /= std::max(norm, 1e-7);
  for (int i = 0; i < 5; ++i) {
    auto const gram = product(x, x.transposed());
    x = sum(3.4445, x, 1, product(sum(-4.7750, gram, 2.0315, product(gram, gram)), x));
  }
  return x;
}

struct WholeReference {
  OpKind kind;
  AdjustLr adjust_lr;
  bool decays;
  Shape shape;
  std::vector<double> w, m = {}, v = {}, of_rows = {};

  void step(std::vector<double> gradient, double scale, int step) {
    for (double& g : gradient) g *= scale;
    m.resize(w.size());
    v.resize(w.size());
    if (kind == OpKind::adafactor)
      adafactor(gradient, step);
    else if (shape.size() == 2)
      muon(gradient);
    else
      adamw(gradient, step);
  }

 private:
  void decay(double lr) {
    for (double& value : w) value -= lr * (decays ? kWholeDecay * value : 0);
  }
  static void average(double& v, double square, double newest) { v += newest * (square - v); }

  void adafactor(std::vector<double> const& g, int step) {
    constexpr double eps1 = std::numeric_limits<float>::epsilon();
    double const newest = std::pow(step, -0.8);
    double const rho = std::min(kWholeLr, 1 / std::sqrt(step));
    double const alpha = std::max(1e-3, root_mean_square(w)) * rho;
    decay(kWholeLr);
    auto const variance = shape.size() == 2 ? factored(g, newest, eps1) : each(g, newest);
    std::vector<double> update(g.size());
    for (std::size_t i = 0; i < g.size(); ++i)
      update[i] = g[i] / std::sqrt(std::max(variance[i], eps1 * eps1));
    double const denominator = std::max(1.0, root_mean_square(update) / 1.25);
    for (std::size_t i = 0; i < g.size(); ++i) w[i] -= alpha / denominator * update[i];
  }
  std::vector<double> each(std::vector<double> const& g, double newest) {
    for (std::size_t i = 0; i < g.size(); ++i) average(v[i], g[i] * g[i], newest);
    return v;
  }
  std::vector<double> factored(std::vector<double> const& g, double newest, double eps1) {
    auto const rows = static_cast<std::size_t>(shape[0]), columns = g.size() / rows;
    of_rows.resize(rows);
    double mean = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      double squares = 0;
      for (std::size_t j = 0; j < columns; ++j) squares += std::pow(g[i * columns + j], 2);
      average(of_rows[i], squares / static_cast<double>(columns), newest);
      mean += of_rows[i] / static_cast<double>(rows);
    }
    std::vector<double> variance(g.size());
    for (std::size_t j = 0; j < columns; ++j) {
      double squares = 0;
      for (std::size_t i = 0; i < rows; ++i) squares += std::pow(g[i * columns + j], 2);
      average(v[j], squares / static_cast<double>(rows), newest);
      for (std::size_t i = 0; i < rows; ++i)
        variance[i * columns + j] = of_rows[i] * v[j] / std::max(mean, eps1);
    }
    return variance;
  }

  void muon(std::vector<double> const& g) {
    Numbers update{shape[0], shape[1], g};
    for (std::size_t i = 0; i < g.size(); ++i) {
      average(m[i], g[i], 1 - 0.95);
      update.at[i] = g[i] + 0.95 * (m[i] - g[i]);
    }
    auto const [rows, columns] =
        std::pair(static_cast<double>(shape[0]), static_cast<double>(shape[1]));
    double const ratio = adjust_lr == AdjustLr::original ? std::sqrt(std::max(1.0, rows / columns))
                                                         : 0.2 * std::sqrt(std::max(rows, columns));
    decay(kWholeLr);
    auto const direction = orthogonal(update);
    for (std::size_t i = 0; i < g.size(); ++i) w[i] -= kWholeLr * ratio * direction.at[i];
  }

  void adamw(std::vector<double> const& g, int step) {
    double const lr = 0.5 * kWholeLr;
    decay(lr);
    for (std::size_t i = 0; i < g.size(); ++i) {
      average(m[i], g[i], 1 - 0.9);
      average(v[i], g[i] * g[i], 1 - 0.95);
      double const m_hat = m[i] / (1 - std::pow(0.9, step));
      double const v_hat = v[i] / (1 - std::pow(0.95, step));
      w[i] -= lr * m_hat / (std::sqrt(v_hat) + 1e-8);
    }
  }
};

}  // namespace spillway::test
