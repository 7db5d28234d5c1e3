// matmul against three plain loops: a forward layer's product and the two of its backward.
#include <gtest/gtest.h>

#include <cmath>

#include "base/bf16.hpp"
#include "base/error.hpp"
#include "kernels/host/onednn/isa.hpp"
#include "kernels/host/product.hpp"
#include "tests/support/kernel_device.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_matmul_test {
namespace {

using test::KernelHarness;

// Sums of k products of numbers of size 1: partial sums grow as sqrt(k), and k of them are rounded
// by 6e-8 at random. They err by about 3e-8 k; a term too few or too many makes an error of 1.
double sum_error(std::int64_t k) {
  return 2e-7 * static_cast<double>(k);
}
// Beside that, values close to a boundary may be rounded to neighbours.
double neighbours(DType t) {
  return t == DType::bf16 ? 0x1p-7 : 0x1p-23;
}
// On a GPU a sum may also be rounded to bf16 between a bias and an addend: by half an ulp, at most
// 2^-8 of it. It has k + 1 terms of size 1, and so is hardly ever larger than 5 sqrt(k + 1).
double error_between_additions(std::int64_t k) {
  return 0x1p-8 * 5 * std::sqrt(static_cast<double>(k + 1));
}

class Product : public ::testing::TestWithParam<DType> {
 protected:
  DType type() const { return GetParam(); }

  View normal(Shape shape) {
    auto const view = m_harness.tensor(type(), std::move(shape));
    m_harness.fill_normal(view, 1);
    return view;
  }
  // Inputs: a, b and perhaps bias and addend.
  void run_and_compare(std::vector<View> inputs, View const& c, bool adds = false) {
    inputs.resize(4);
    auto const k = inputs[0].shape[1];
    auto const out = m_harness.graph().tensor(c).dtype;
    bool const rounds_twice = test::kernel_device() != nullptr && out == DType::bf16 &&
                              is_present(inputs[2]) && is_present(inputs[3]);
    m_harness.graph().arithmetic.threads = 2;
    m_harness.op(OpKind::matmul, std::move(inputs), {c}, {},
                 adds ? std::vector{0} : std::vector<int>{});
    m_harness.run(host::kernel(OpKind::matmul));
    m_harness.expect_close(c, sum_error(k) + (rounds_twice ? error_between_additions(k) : 0),
                           neighbours(out));
  }

  KernelHarness m_harness;
};
INSTANTIATE_TEST_SUITE_P(Kernel, Product, ::testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

TEST_P(Product, of_gpt2s_forward_layer_matches_loops) {
  auto const x = normal({50, 768}), w = normal({768, 2304}), bias = normal({2304});
  run_and_compare({x, w, bias}, m_harness.tensor(type(), {50, 2304}));
}

TEST_P(Product, with_transposed_weights_matches_loops) {
  auto const dy = normal({50, 2304}), w = normal({768, 2304});
  run_and_compare({dy, transposed(w)}, m_harness.tensor(type(), {50, 768}));
}

TEST_P(Product, of_weight_gradient_in_fp32_matches_loops) {
  auto const x = normal({512, 96}), dy = normal({512, 160});
  run_and_compare({transposed(x), dy}, m_harness.tensor(DType::f32, {96, 160}));
}

TEST_P(Product, of_odd_sizes_with_bias_and_addend_matches_loops) {
  auto const a = normal({37, 23}), b = normal({23, 101}), bias = normal({101});
  auto const addend = normal({37, 101});
  run_and_compare({a, b, bias, addend}, m_harness.tensor(type(), {37, 101}));
}

// In fp32, where a GPU adds bf16 biases and addends by a kernel of its own, 256 columns at a time.
TEST_P(Product, in_fp32_with_bias_or_addend_matches_loops) {
  auto const a = normal({5, 23}), b = normal({23, 301}), bias = normal({301});
  auto const addend = columns(normal({5, 310}), 3, 301);
  auto const c = columns(m_harness.tensor(DType::f32, {5, 320}), 8, 301);
  run_and_compare({a, b, bias, addend}, c);
  run_and_compare({a, b, bias}, c);
  run_and_compare({a, b, {}, addend}, c);
}

TEST_P(Product, of_columns_of_wider_matrices_matches_loops) {
  auto const a = columns(normal({37, 60}), 16, 23), b = columns(normal({23, 90}), 8, 41);
  auto const addend = columns(normal({37, 70}), 3, 41);
  auto const c = columns(m_harness.tensor(type(), {37, 64}), 16, 41);
  run_and_compare({a, b, {}, addend}, c);
}

TEST_P(Product, added_to_columns_of_what_is_there_matches_loops) {
  for (std::int64_t const rows : {1, 37, 130}) {
    auto const a = normal({rows, 23}), b = normal({41, 23});
    auto const c = columns(normal({rows, 64}), 16, 41);
    run_and_compare({a, transposed(b)}, c, /*adds=*/true);
  }
}

TEST_P(Product, into_a_transposed_matrix_matches_loops) {
  auto const a = normal({37, 23}), b = normal({23, 41});
  run_and_compare({a, b}, transposed(m_harness.tensor(type(), {41, 37})));
}

TEST_P(Product, of_one_row_matches_loops) {
  for (std::int64_t const depth : {1, 31, 96, 1037}) {
    auto const x = columns(normal({1, depth + 8}), 8, depth), w = normal({101, depth + 3});
    run_and_compare({x, transposed(columns(w, 2, depth))}, m_harness.tensor(DType::f32, {1, 101}));
    auto const bias = normal({101}), addend = normal({1, 101});
    run_and_compare({x, columns(normal({depth, 110}), 7, 101), bias, addend},
                    m_harness.tensor(type(), {1, 101}));
  }
}

// 257 rounds to 256 in bf16 (a tie, to even), 258 is exact: rounding before an addition shows.
TEST(KernelMatmul, rounds_once_after_bias_and_addend) {
  for (bool const bias : {false, true}) {
    KernelHarness h;
    auto const a = h.tensor(DType::bf16, {3, 257}), b = h.tensor(DType::bf16, {257, 5});
    auto const more = h.tensor(DType::bf16, bias ? Shape{5} : Shape{3, 5});
    auto const c = h.tensor(DType::bf16, {3, 5});
    for (auto const& view : {a, b, more}) h.fill_normal(view, 0, 1);
    h.op(OpKind::matmul, {a, b, bias ? more : View{}, bias ? View{} : more}, {c});
    h.run(host::kernel(OpKind::matmul));
    EXPECT_EQ(h.results(c), std::vector<double>(15, 258));
  }
}

TEST(KernelMatmul, gives_the_same_bits_at_every_address_and_run) {
  MatmulShape const shape{.a = dense_matrix(DType::bf16, 96, 512).transposed(),
                          .b = dense_matrix(DType::bf16, 96, 160),
                          .c = dense_matrix(DType::f32, 512, 160)};
  host::Matmul const product(shape, 2, false);
  constexpr std::size_t line = 64, a_size = 96 * 512 * 2, b_size = 96 * 160 * 2;
  constexpr std::size_t c_size = 512 * 160 * 4;
  auto const scratch_size = static_cast<std::size_t>(product.workspace_bytes());
  auto const buffer = [](std::size_t bytes) {
    return Kokkos::View<std::byte*, Kokkos::HostSpace>("operand", bytes + 4 * line);
  };
  auto const a = buffer(a_size), b = buffer(b_size), c = buffer(c_size);
  auto const scratch = buffer(scratch_size);

  std::vector<std::byte> first;
  for (std::size_t shift = 0; shift < 4; ++shift) {
    auto const offset = shift * line;
    for (std::size_t i = 0; i < a_size / 2; ++i)
      reinterpret_cast<bf16*>(a.data() + offset)[i] = to_bf16(std::sin(static_cast<float>(i)));
    for (std::size_t i = 0; i < b_size / 2; ++i)
      reinterpret_cast<bf16*>(b.data() + offset)[i] = to_bf16(std::cos(static_cast<float>(i)));
    product(*test::other_instance(2), {a.data() + offset, b.data() + offset, c.data() + offset,
                                       nullptr, nullptr, scratch.data() + offset});
    std::vector<std::byte> const bits(c.data() + offset, c.data() + offset + c_size);
    if (shift == 0) first = bits;
    EXPECT_TRUE(bits == first) << "operands moved by " << offset << " bytes";
  }
}

TEST(KernelMatmul, is_made_of_plain_loops_where_asked) {
  for (auto const dtype : {DType::bf16, DType::f32}) {
    MatmulShape const shape{.a = dense_matrix(dtype, 3, 16),
                            .b = dense_matrix(dtype, 16, 5),
                            .c = dense_matrix(dtype, 3, 5)};
    EXPECT_NE(host::Matmul(shape, 1, true).implementation().find("portable"), std::string::npos);
  }
}

// One row by itself, tiles where the processor multiplies matrices or oneDNN has no product.
TEST(KernelMatmul, is_made_by_whoever_is_fastest) {
  for (auto const dtype : {DType::bf16, DType::f32}) {
    auto const shape = [&](std::int64_t rows) {
      return MatmulShape{.a = dense_matrix(dtype, rows, 50),
                         .b = dense_matrix(dtype, 50, 5),
                         .c = dense_matrix(dtype, rows, 5)};
    };
    auto const& tiles = tile_kernels(dtype, false);
    bool const in_tiles = tiles.matrix_unit || !host::onednn_multiplies(dtype);
    auto const way = host::Matmul(shape(2), 1, false).implementation();
    EXPECT_EQ(way == tiles.name, in_tiles) << way;
    EXPECT_NE(way, "row");
    for (bool const portable : {false, true})
      EXPECT_EQ(host::Matmul(shape(1), 1, portable).implementation(), "row");
    EXPECT_EQ(host::padded_columns(dtype, 50, false), in_tiles ? 64 : 50);
    EXPECT_EQ(host::padded_columns(dtype, 50, true), 64);
    EXPECT_EQ(host::padded_columns(dtype, 64, true), 64);
  }
}

TEST(RowProduct, is_of_one_row_whose_operands_lie_in_rows) {
  auto const offers = host::RowProduct::offers;
  auto const dense = [](std::int64_t rows, std::int64_t columns) {
    return dense_matrix(DType::f32, rows, columns);
  };
  MatmulShape const sound{.a = dense(1, 8), .b = dense(8, 5), .c = dense(1, 5)};
  EXPECT_TRUE(offers(sound));
  auto shape = sound;
  shape.b = dense(5, 8).transposed();
  EXPECT_TRUE(offers(shape));
  shape.b = {DType::f32, 8, 5, 10, 2};
  EXPECT_FALSE(offers(shape)) << "no column and no row of b is contiguous";
  shape = sound;
  shape.a = {DType::f32, 1, 8, 16, 2};
  EXPECT_FALSE(offers(shape));
  shape = sound;
  shape.c = dense(5, 3).transposed();
  EXPECT_FALSE(offers(shape));
  shape = sound;
  shape.a = dense(2, 8), shape.c = dense(2, 5);
  EXPECT_FALSE(offers(shape));
  shape = sound;
  shape.accumulate = true;
  EXPECT_FALSE(offers(shape)) << "it overwrites c";
  auto const in_row = dense(1, 5);
  shape = sound;
  shape.bias = true;
  shape.addend = &in_row;
  EXPECT_TRUE(offers(shape));
  MatrixLayout const apart{DType::f32, 1, 5, 1, 3};
  shape.addend = &apart;
  EXPECT_FALSE(offers(shape));
}

TEST(KernelMatmul, accumulates_into_what_is_there) {
  MatmulShape const shape{.a = dense_matrix(DType::bf16, 3, 16),
                          .b = dense_matrix(DType::bf16, 16, 5),
                          .c = dense_matrix(DType::f32, 3, 5),
                          .accumulate = true};
  host::Matmul const product(shape, 1, false);
  std::vector<bf16> const a(48, to_bf16(1)), b(80, to_bf16(0.5f));
  std::vector<float> c(15, 100.0f);
  std::vector<std::byte> scratch(static_cast<std::size_t>(product.workspace_bytes()) + 64);
  auto const aligned = (reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64;
  product(*test::other_instance(1),
          {a.data(), b.data(), c.data(), nullptr, nullptr, reinterpret_cast<void*>(aligned)});
  EXPECT_EQ(c, std::vector<float>(15, 108.0f));
}

}  // namespace
}  // namespace spillway::kernels_matmul_test
