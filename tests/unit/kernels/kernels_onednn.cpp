// Products by oneDNN itself, which on some processors multiplies nothing else: what is added to
// them, and its words.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <regex>
#include <vector>

#include "kernels/host/onednn/isa.hpp"
#include "kernels/host/onednn/matmul.hpp"
#include "kernels/host/product.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::kernels_onednn_test {
namespace {

constexpr std::int64_t kRows = 4, kColumns = 6, kDepth = 3;

// Small integers, whose sums are exact.
double a_at(std::int64_t i, std::int64_t k) {
  return static_cast<double>((i + k) % 5 + 1);
}
double b_at(std::int64_t k, std::int64_t j) {
  return static_cast<double>((k + 2 * j) % 7 - 3);
}
double bias_at(std::int64_t j) {
  return static_cast<double>(16 * j - 32);
}
double addend_at(std::int64_t i, std::int64_t j) {
  return static_cast<double>(200 * i - 7 * j);
}
double before_at(std::int64_t i, std::int64_t j) {
  return static_cast<double>(5000 * i + 600 * j + 1);
}

template <class At>
std::vector<float> filled(MatrixLayout const& m, At const& at) {
  std::vector<float> values(static_cast<std::size_t>(m.rows * m.columns));
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t j = 0; j < m.columns; ++j)
      values[static_cast<std::size_t>(i * m.row_stride + j * m.column_stride)] =
          static_cast<float>(at(i, j));
  return values;
}

struct Has {
  bool transposed, bias, addend, accumulate;
};

void expect_exact(Has const& has) {
  auto const c_layout = has.transposed ? dense_matrix(DType::f32, kColumns, kRows).transposed()
                                       : dense_matrix(DType::f32, kRows, kColumns);
  MatmulShape const shape{.a = dense_matrix(DType::f32, kRows, kDepth),
                          .b = dense_matrix(DType::f32, kDepth, kColumns),
                          .c = c_layout,
                          .bias = has.bias,
                          .addend = has.addend ? &c_layout : nullptr,
                          .accumulate = has.accumulate};
  host::OneDnnMatmul const product(shape, 2);
  EXPECT_EQ(product.workspace_bytes() % 64, 0);
  auto const a = filled(shape.a, a_at), b = filled(shape.b, b_at);
  auto const addend = filled(c_layout, addend_at);
  auto const bias = filled(dense_matrix(DType::f32, 1, kColumns),
                           [](std::int64_t, std::int64_t j) { return bias_at(j); });
  auto c = filled(c_layout, before_at);
  std::vector<std::byte> scratch(static_cast<std::size_t>(product.workspace_bytes()) + 64);
  auto const aligned = (reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64;
  product({a.data(), b.data(), c.data(), has.bias ? bias.data() : nullptr,
           has.addend ? addend.data() : nullptr, reinterpret_cast<void*>(aligned)});
  auto const expected = filled(c_layout, [&](std::int64_t i, std::int64_t j) {
    double sum = has.accumulate ? before_at(i, j) : 0;
    for (std::int64_t k = 0; k < kDepth; ++k) sum += a_at(i, k) * b_at(k, j);
    return sum + (has.bias ? bias_at(j) : 0) + (has.addend ? addend_at(i, j) : 0);
  });
  EXPECT_EQ(c, expected);
}

TEST(OneDnnProducts, add_bias_addend_and_what_was_there) {
  for (bool const bias : {false, true})
    for (bool const addend : {false, true})
      for (bool const accumulate : {false, true}) {
        SCOPED_TRACE(testing::Message() << bias << addend << accumulate);
        expect_exact({false, bias, addend, accumulate});
      }
}

TEST(OneDnnProducts, into_a_transposed_matrix_add_the_same) {
  for (bool const addend : {false, true})
    for (bool const accumulate : {false, true}) {
      SCOPED_TRACE(testing::Message() << addend << accumulate);
      expect_exact({true, false, addend, accumulate});
    }
}

// In a process of its own, for oneDNN reads the variable once.
TEST(OneDnnDeathTest, names_the_product_that_it_lacks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const asks = [] {
    ::setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
    MatmulShape const shape{.a = dense_matrix(DType::bf16, 2, 3),
                            .b = dense_matrix(DType::bf16, 5, 3).transposed(),
                            .c = dense_matrix(DType::bf16, 2, 5)};
    auto const line = test::refused_with([&] { host::OneDnnMatmul const product(shape, 1); });
    std::fputs(line.c_str(), stderr);
    std::_Exit(7);
  };
  EXPECT_EXIT(asks(), testing::ExitedWithCode(7),
              "oneDNN offers no product bf16\\[2,3\\] with strides 3,1 x "
              "bf16\\[3,5\\] with strides 1,3 -> bf16\\[2,5\\] with strides 5,1 here: .+");
}

// Checkpoints keep these words.
TEST(Isa, has_oneDNN_and_then_the_tiles_of_bf16_and_of_f32) {
  EXPECT_TRUE(std::regex_match(host::onednn_isa(),
                               std::regex("oneDNN [0-9]+\\.[0-9]+\\.[0-9]+, isa 0x[0-9a-f]+")))
      << host::onednn_isa();
  auto const isa = host::matmul_isa();
  auto const at = isa.find(", tiles ");
  ASSERT_NE(at, std::string::npos) << isa;
  EXPECT_EQ(isa.substr(0, at), host::onednn_isa());
  std::string const of_bf16 = tile_kernels(DType::bf16, false).name;
  EXPECT_EQ(isa.substr(at + 8), of_bf16 + " and " + tile_kernels(DType::f32, false).name);
}

}  // namespace
}  // namespace spillway::kernels_onednn_test
