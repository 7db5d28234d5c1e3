// Products made of tiles, by every kind of tile kernels, against sums in fp64: all ways that the
// operands can lie, blocks that are not whole, factors too large to be packed ahead.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/bf16.hpp"
#include "kernels/host/tile_matmul.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_tile_matmul_test {
namespace {

struct ProductSize {
  std::int64_t rows, columns, depth;
};

class Operand {
 public:
  Operand(DType dtype, std::int64_t rows, std::int64_t columns, bool transposed, int seed)
      : m_layout(transposed ? dense_matrix(dtype, columns, rows).transposed()
                            : dense_matrix(dtype, rows, columns)) {
    auto const count = static_cast<std::size_t>(rows * columns);
    m_bf16.resize(count);
    m_f32.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      auto const n = (i + static_cast<std::size_t>(seed)) * 2654435761u % 100003u;
      m_bf16[i] = to_bf16(static_cast<float>(n) / 50001.0f - 1.0f);
      m_f32[i] =
          dtype == DType::bf16 ? to_float(m_bf16[i]) : static_cast<float>(n) / 50001.0f - 1.0f;
    }
  }
  MatrixLayout const& layout() const { return m_layout; }
  void* data() {
    return m_layout.dtype == DType::bf16 ? static_cast<void*>(m_bf16.data()) : m_f32.data();
  }
  double at(std::int64_t i, std::int64_t j) const {
    auto const n = static_cast<std::size_t>(i * m_layout.row_stride + j * m_layout.column_stride);
    return m_layout.dtype == DType::bf16 ? double{to_float(m_bf16[n])} : double{m_f32[n]};
  }

 private:
  MatrixLayout m_layout;
  std::vector<bf16> m_bf16;
  std::vector<float> m_f32;
};

class Case {
 public:
  Case(DType dtype, ProductSize size, bool a_transposed, bool b_transposed, bool c_transposed,
       DType result, bool accumulate)
      : m_a(dtype, size.rows, size.depth, a_transposed, 1),
        m_b(dtype, size.depth, size.columns, b_transposed, 2),
        m_more(dtype, size.rows, size.columns, c_transposed, 3),
        m_before(result, size.rows, size.columns, c_transposed, 4),
        m_bias(dtype, 1, size.columns, false, 5),
        m_c(m_before) {
    m_shape = {.a = m_a.layout(),
               .b = m_b.layout(),
               .c = m_c.layout(),
               .bias = !c_transposed,
               .addend = &m_more.layout(),
               .accumulate = accumulate};
  }
  void run(TileKernels const& kernels, int threads) {
    m_c = m_before;
    host::TileMatmul const product(m_shape, kernels, threads);
    Kokkos::View<std::byte*, Kokkos::HostSpace> const workspace(
        "workspace", static_cast<std::size_t>(product.workspace_bytes()));
    product(*test::other_instance(threads),
            {m_a.data(), m_b.data(), m_c.data(), m_bias.data(), m_more.data(), workspace.data()});
  }
  std::vector<double> results() const {
    std::vector<double> all;
    for (std::int64_t i = 0; i < m_shape.c.rows; ++i)
      for (std::int64_t j = 0; j < m_shape.c.columns; ++j) all.push_back(m_c.at(i, j));
    return all;
  }
  // Every `step`-th element.
  void expect_close(std::int64_t step, char const* who) const {
    auto const columns = m_shape.c.columns;
    for (std::int64_t n = 0; n < m_shape.c.rows * columns; n += step) {
      auto const i = n / columns, j = n % columns;
      double sum = m_more.at(i, j), size = 2 + std::abs(sum);
      if (m_shape.bias) sum += m_bias.at(0, j);
      if (m_shape.accumulate) sum += m_before.at(i, j);
      for (std::int64_t k = 0; k < m_shape.a.columns; ++k) {
        sum += m_a.at(i, k) * m_b.at(k, j);
        size += std::abs(m_a.at(i, k) * m_b.at(k, j));
      }
      double const rounded = m_shape.c.dtype == DType::bf16 ? 0x1p-8 * std::abs(sum) : 0;
      double const summed = 0x1p-23 * std::sqrt(static_cast<double>(m_shape.a.columns) + 4) * size;
      ASSERT_NEAR(m_c.at(i, j), sum, rounded + summed) << who << " " << i << " " << j;
    }
  }

 private:
  Operand m_a, m_b, m_more, m_before, m_bias, m_c;
  MatmulShape m_shape;
};

constexpr ProductSize kOdd[] = {{1, 1, 1}, {33, 70, 31}, {7, 200, 64}, {150, 97, 600}};

TEST(TileMatmul, matches_sums_however_operands_lie) {
  for (auto const dtype : {DType::bf16, DType::f32})
    for (auto const* kernels : all_tile_kernels(dtype))
      for (auto const& size : kOdd)
        for (int lie = 0; lie < 8; ++lie)
          for (auto const result : {dtype, DType::f32})
            for (bool const accumulate : {false, true}) {
              Case product(dtype, size, lie & 1, lie & 2, lie & 4, result, accumulate);
              product.run(*kernels, 2);
              product.expect_close(1, kernels->name);
            }
}

// More than 16 MiB of packed panels on one side: blocks pack for themselves.
TEST(TileMatmul, packs_large_factors_block_by_block) {
  for (auto const& size : {ProductSize{40, 90'000, 640}, ProductSize{90'000, 40, 700}})
    for (bool const in_place : {false, true}) {
      Case product(DType::bf16, size, !in_place, false, false, DType::bf16, false);
      product.run(tile_kernels(DType::bf16, false), 2);
      product.expect_close(9973, "large");
    }
}

// The same with a small c: its sums wait in scratch while the depth is packed in passes.
TEST(TileMatmul, keeps_sums_of_small_results_from_pass_to_pass) {
  for (auto const dtype : {DType::bf16, DType::f32})
    for (bool const along : {false, true}) {  // depth is contiguous, or lines are
      Case product(dtype, {300, 70, 60'001}, !along, along, false, dtype, false);
      product.run(tile_kernels(dtype, false), 3);
      product.expect_close(97, "deep");
      auto const three = product.results();
      product.run(tile_kernels(dtype, false), 1);
      EXPECT_EQ(product.results(), three);
    }
}

// Rows of 40 bf16 that go on to a multiple of 32 elements, with zeros in a, with NaN in b: only a's
// may be read beyond their end, and only if that was said.
TEST(TileMatmul, reads_on_behind_rows_of_a_if_they_are_zero_padded_and_nowhere_else) {
  constexpr std::int64_t rows = 3, columns = 5, depth = 40, stride = 64;
  for (bool const zero_padded : {false, true})
    for (bool const c_transposed : {false, true}) {
      float const behind_a = zero_padded ? 0 : NAN;
      std::vector<bf16> a(rows * stride, to_bf16(behind_a)), b(columns * stride, to_bf16(NAN));
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = 0; k < depth; ++k)
          a[static_cast<std::size_t>(i * stride + k)] = to_bf16(static_cast<float>(i + k % 3));
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t k = 0; k < depth; ++k)
          b[static_cast<std::size_t>(j * stride + k)] = to_bf16(static_cast<float>(j - k % 4));
      MatmulShape const shape{.a = {DType::bf16, rows, depth, stride, 1},
                              .b = {DType::bf16, depth, columns, 1, stride},
                              .c = c_transposed
                                       ? dense_matrix(DType::f32, columns, rows).transposed()
                                       : dense_matrix(DType::f32, rows, columns),
                              .a_zero_padded = zero_padded};
      for (auto const* kernels : all_tile_kernels(DType::bf16)) {
        host::TileMatmul const product(shape, *kernels, 1);
        Kokkos::View<std::byte*, Kokkos::HostSpace> const workspace(
            "workspace", static_cast<std::size_t>(product.workspace_bytes()));
        std::vector<float> c(rows * columns, -1);
        product(*test::other_instance(1),
                {a.data(), b.data(), c.data(), nullptr, nullptr, workspace.data()});
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j) {
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < depth; ++k) sum += (i + k % 3) * (j - k % 4);
            auto const at = i * shape.c.row_stride + j * shape.c.column_stride;
            EXPECT_EQ(c[static_cast<std::size_t>(at)], static_cast<float>(sum))
                << kernels->name << (c_transposed ? " transposed" : "") << " " << i << " " << j;
          }
      }
    }
}

TEST(TileMatmul, gives_the_same_bits_on_any_number_of_threads) {
  for (auto const dtype : {DType::bf16, DType::f32}) {
    Case product(dtype, {300, 500, 700}, true, false, false, DType::f32, true);
    product.run(tile_kernels(dtype, false), 1);
    auto const one = product.results();
    product.run(tile_kernels(dtype, false), 2);
    EXPECT_EQ(product.results(), one);
  }
}

}  // namespace
}  // namespace spillway::kernels_tile_matmul_test
