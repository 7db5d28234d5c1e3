// attention under all that may hide keys and with a bias, and its backward, against plain loops
// over all pairs of a query and a key, which ask one function whether the query sees the key.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/unit/kernels/attention_case.hpp"

namespace spillway::kernels_attention_masks_test {
namespace {

using test::AttentionCase;

struct Gradients {
  std::vector<double> q, k, v, bias;
};

// Reads an op's operands as the harness has them, and does the arithmetic in fp64.
class Loops {
 public:
  explicit Loops(AttentionCase const& c)
      : m_a(c.a), m_q(c.h.contents(c.q)), m_k(c.h.contents(c.k)), m_v(c.h.contents(c.v)) {
    if (is_present(c.segments_q)) m_segments_q = c.h.contents(c.segments_q);
    if (is_present(c.segments_q)) m_segments_k = c.h.contents(c.segments_k);
    if (is_present(c.bias)) m_bias = c.h.contents(c.bias);
  }

  std::array<std::vector<double>, 2> forward() const {  // o, lse
    std::vector<double> o(m_q.size(), 0.0), lse;
    for_each_query([&](std::int64_t b, std::int64_t h, std::int64_t i) {
      double sum = 0;
      for_each_key(b, h, i, [&](std::int64_t, double score) { sum += std::exp(score); });
      for_each_key(b, h, i, [&](std::int64_t j, double score) {
        for (std::int64_t c = 0; c < m_a.head_size; ++c)
          o[at_q(b, i, h) + index(c)] += std::exp(score) / sum * m_v[at_k(b, j, h) + index(c)];
      });
      lse.push_back(sum == 0 ? INFINITY : std::log(sum));
    });
    return {o, lse};
  }

  // From the o and lse that forward's kernel gave.
  Gradients backward(std::vector<double> const& o, std::vector<double> const& lse,
                     std::vector<double> const& d_o) const {
    Gradients d{std::vector<double>(m_q.size()), std::vector<double>(m_k.size()),
                std::vector<double>(m_k.size()),
                std::vector<double>(index(m_a.heads * (m_a.queries + m_a.keys - 1)))};
    for_each_query([&](std::int64_t b, std::int64_t h, std::int64_t i) {
      auto const q = at_q(b, i, h);
      double const delta = dot(o, q, d_o, q);
      double const row_lse = lse[index((b * m_a.heads + h) * m_a.queries + i)];
      for_each_key(b, h, i, [&](std::int64_t j, double score) {
        auto const k = at_k(b, j, h);
        double const weight = std::exp(score - row_lse);
        double const slope = weight * (dot(d_o, q, m_v, k) - delta);
        for (std::size_t c = 0; c < index(m_a.head_size); ++c) {
          d.q[q + c] += m_a.scale * slope * m_k[k + c];
          d.k[k + c] += m_a.scale * slope * m_q[q + c];
          d.v[k + c] += weight * d_o[q + c];
        }
        d.bias[at_bias(h, i, j)] += slope;
      });
    });
    return d;
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  bool sees(std::int64_t b, std::int64_t i, std::int64_t j) const {
    if (m_a.causal && j > i) return false;
    if (m_a.window > 0 && i - j >= m_a.window) return false;
    if (m_a.window > 0 && !m_a.causal && j - i >= m_a.window) return false;
    if (m_segments_q.empty()) return true;
    double const own = m_segments_q[index(b * m_a.queries + i)];
    return own >= 0 && own == m_segments_k[index(b * m_a.keys + j)];
  }

  template <class F>
  void for_each_query(F const& f) const {
    for (std::int64_t b = 0; b < m_a.batch; ++b)
      for (std::int64_t h = 0; h < m_a.heads; ++h)
        for (std::int64_t i = 0; i < m_a.queries; ++i) f(b, h, i);
  }
  template <class F>
  void for_each_key(std::int64_t b, std::int64_t h, std::int64_t i, F const& f) const {
    for (std::int64_t j = 0; j < m_a.keys; ++j) {
      if (!sees(b, i, j)) continue;
      double const bias = m_bias.empty() ? 0 : m_bias[at_bias(h, i, j)];
      f(j, m_a.scale * dot(m_q, at_q(b, i, h), m_k, at_k(b, j, h)) + bias);
    }
  }

  double dot(std::vector<double> const& x, std::size_t at_x, std::vector<double> const& y,
             std::size_t at_y) const {
    double sum = 0;
    for (std::size_t c = 0; c < index(m_a.head_size); ++c) sum += x[at_x + c] * y[at_y + c];
    return sum;
  }

  std::size_t at_q(std::int64_t b, std::int64_t i, std::int64_t h) const {
    return index(((b * m_a.queries + i) * m_a.heads + h) * m_a.head_size);
  }
  std::size_t at_k(std::int64_t b, std::int64_t j, std::int64_t h) const {
    auto const kv_head = h / (m_a.heads / m_a.kv_heads);
    return index(((b * m_a.keys + j) * m_a.kv_heads + kv_head) * m_a.head_size);
  }
  std::size_t at_bias(std::int64_t h, std::int64_t i, std::int64_t j) const {
    return index(h * (m_a.queries + m_a.keys - 1) + j - i + m_a.queries - 1);
  }

  AttentionAttributes m_a;
  std::vector<double> m_q, m_k, m_v, m_segments_q, m_segments_k, m_bias;
};

void expect_near(std::vector<double> const& got, std::vector<double> const& wanted,
                 double tolerance, char const* what) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    bool const near = got[i] == wanted[i] ||
                      std::abs(got[i] - wanted[i]) <= tolerance * (1 + std::abs(wanted[i]));
    ASSERT_TRUE(near) << what << "[" << i << "] is " << got[i] << " instead of " << wanted[i];
  }
}

// The kernel and its serial reference.
void expect_as_by_loops(AttentionCase& c, std::int64_t tile) {
  c.forward(tile);
  Loops const loops(c);
  auto const [o, lse] = loops.forward();
  expect_near(c.h.results(c.o), o, c.tolerance, "o");
  expect_near(c.h.results(c.lse), lse, 1e-5, "lse");
  expect_near(c.h.serial_results(c.o), o, c.tolerance, "serial o");
  expect_near(c.h.serial_results(c.lse), lse, 1e-6, "serial lse");
  c.h.keep_results();
  c.backward(tile);
  auto const d = loops.backward(c.h.contents(c.o), c.h.contents(c.lse), c.h.contents(c.d_o));
  auto const expect = [&](View const& view, std::vector<double> const& wanted, double tolerance,
                          char const* what) {
    expect_near(c.h.results(view), wanted, tolerance, what);
    expect_near(c.h.serial_results(view), wanted, tolerance, what);
  };
  expect(c.dq, d.q, 4 * c.tolerance, "dq");
  expect(c.dk, d.k, 4 * c.tolerance, "dk");
  expect(c.dv, d.v, 4 * c.tolerance, "dv");
  if (is_present(c.d_bias)) expect(c.d_bias, d.bias, 1e-4, "d_bias");
}

// Documents of several lengths, some within a tile, some over tiles, then padding, from which comes
// one stray row of a document; every sequence is cut elsewhere.
std::vector<double> documents(std::int64_t batch, std::int64_t rows) {
  std::vector<double> segments;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t row = 0; row < rows; ++row) {
      bool const padding = row >= rows - 5 - b && row != rows - 3;
      segments.push_back(padding ? -1 - static_cast<double>(row % 2)
                                 : static_cast<double>((row + 3 * b) / 11 / (1 + row / 40)));
    }
  return segments;
}

// type, causal, window, segments, bias
using Masks = std::tuple<DType, bool, int, bool, bool>;
class Attention : public ::testing::TestWithParam<Masks> {};

TEST_P(Attention, is_that_of_loops_over_all_pairs) {
  auto const [type, causal, window, segments, bias] = GetParam();
  // A head of 70 columns is more than one panel of them, as a tile of 64 rows is.
  for (auto const& [rows, head_size] : {std::pair{1, 20}, {37, 20}, {101, 20}, {101, 70}})
    for (std::int64_t const tile : {32, 64}) {
      AttentionCase c({.batch = 2,
                       .queries = rows,
                       .keys = rows,
                       .heads = 4,
                       .kv_heads = 2,
                       .head_size = head_size,
                       .causal = causal,
                       .window = window,
                       .scale = 0.25},
                      type);
      if (segments) c.add_segments(documents(2, rows), documents(2, rows));
      if (bias) c.add_bias();
      expect_as_by_loops(c, tile);
    }
}

std::string name_of(::testing::TestParamInfo<Masks> const& info) {
  auto const& [type, causal, window, segments, bias] = info.param;
  return std::string(name(type)) + (causal ? "_causal" : "") +
         (window > 0 ? "_window" + std::to_string(window) : "") + (segments ? "_segments" : "") +
         (bias ? "_bias" : "");
}
INSTANTIATE_TEST_SUITE_P(Under, Attention,
                         ::testing::Combine(::testing::Values(DType::f32, DType::bf16),
                                            ::testing::Bool(), ::testing::Values(0, 1, 9, 45),
                                            ::testing::Bool(), ::testing::Bool()),
                         name_of);

// A device's kernels are compiled for heads of up to 64, 128 and 256 columns, and copy the more
// bytes at a time the rounder a head is.
class AttentionOfHeads : public ::testing::TestWithParam<std::tuple<DType, int>> {};
INSTANTIATE_TEST_SUITE_P(Of, AttentionOfHeads,
                         ::testing::Combine(::testing::Values(DType::f32, DType::bf16),
                                            ::testing::Values(63, 64, 65, 127, 128, 129, 250, 255,
                                                              256)),
                         [](auto const& info) {
                           return std::string(name(std::get<0>(info.param))) + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST_P(AttentionOfHeads, is_that_of_loops_over_all_pairs) {
  auto const [type, head_size] = GetParam();
  constexpr std::int64_t rows = 70;
  for (bool const is_masked : {false, true}) {
    AttentionCase c({.batch = 1,
                     .queries = rows,
                     .keys = rows,
                     .heads = 2,
                     .kv_heads = 1,
                     .head_size = head_size,
                     .causal = is_masked,
                     .scale = 0.125},
                    type);
    if (is_masked) c.add_segments(documents(1, rows), documents(1, rows));
    if (is_masked) c.add_bias();
    expect_as_by_loops(c, 64);
  }
}

class CrossAttention : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Of, CrossAttention, ::testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

TEST_P(CrossAttention, is_that_of_loops_over_all_pairs) {
  for (auto const& [queries, keys] : {std::pair{45, 101}, {101, 45}, {1, 67}, {67, 1}}) {
    AttentionCase c({.batch = 2,
                     .queries = queries,
                     .keys = keys,
                     .heads = 3,
                     .kv_heads = 3,
                     .head_size = 20,
                     .scale = 0.25},
                    GetParam());
    c.add_segments(documents(2, queries), documents(2, keys));
    c.add_bias();
    expect_as_by_loops(c, 32);
  }
}

// Numbers in rows of padding, however large, reach nothing, and their results are zeros.
TEST(AttentionOfPadding, is_zero_and_harmless) {
  constexpr std::int64_t rows = 40, used = 30, columns = 8;
  auto const results = [](double in_padding) {
    AttentionCase c({.batch = 1,
                     .queries = rows,
                     .keys = rows,
                     .heads = 1,
                     .kv_heads = 1,
                     .head_size = columns,
                     .causal = true,
                     .scale = 0.3},
                    DType::f32);
    std::vector<double> segments(rows, 7);
    std::fill(segments.begin() + used, segments.end(), -1);
    c.add_segments(segments, segments);
    c.add_bias();
    for (auto i = used * columns; i < rows * columns; ++i)
      for (auto const& view : {c.q, c.k, c.v, c.d_o}) c.h.set(view, i, in_padding);
    c.forward(32);
    for (auto row = used; row < rows; ++row) EXPECT_EQ(c.h.result(c.lse, row), INFINITY);
    c.h.keep_results();
    c.backward(32);
    std::vector<std::vector<double>> all{c.h.contents(c.o)};
    for (auto const& view : {c.dq, c.dk, c.dv, c.d_bias}) all.push_back(c.h.results(view));
    return all;
  };
  auto const all = results(1e15);
  EXPECT_EQ(all, results(0));
  for (std::size_t which = 0; which < 4; ++which)
    for (auto i = static_cast<std::size_t>(used * columns); i < all[which].size(); ++i)
      EXPECT_EQ(all[which][i], 0) << which;
}

}  // namespace
}  // namespace spillway::kernels_attention_masks_test
