// dequantize, against its serial reference and against the elements that its bytes stand for.
#include <gtest/gtest.h>

#include "base/bf16.hpp"
#include "tests/support/kernel_harness.hpp"
#include "tests/support/quantized_bytes.hpp"
#include "tests/unit/kernels/kernel_rows.hpp"

namespace spillway::kernels_dequantize_test {
namespace {

using test::KernelHarness, test::KernelRows;

Shape const kShapes[] = {{1, 1}, {3, 5}, {7, 64}, {37, 83}, {64, 256}, {5, 1000}, {2, 20'000}};

std::vector<float> elements_for(Shape const& shape) {
  std::vector<float> elements;
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    elements.push_back(static_cast<float>((i * 37) % 101 - 50) / 64 *
                       static_cast<float>(1 + i / 64 % 7));
  return elements;
}

// The matrix is some rows of a larger one, as where several lie side by side, so it begins
// anywhere.
TEST_P(KernelRows, dequantize_makes_the_elements_that_bytes_stand_for) {
  for (auto const form : {Quantization::int8, Quantization::nf4}) {
    for (auto const& shape : kShapes) {
      SCOPED_TRACE(testing::Message() << word(form) << " " << shape[0] << " x " << shape[1]);
      KernelHarness h;
      Quantized const quantized{form, shape};
      auto const bytes = test::bytes_of(quantized, elements_for(shape));
      auto const from = h.tensor(DType::u8, {std::ssize(bytes)});
      h.set_all(from, test::numbers_of(bytes));
      for (std::int64_t const before : {0, 3}) {
        auto const all = h.tensor(T(), {before + shape[0] + 1, shape[1]});
        auto const w = row_range(all, before, shape[0]);
        h.op(OpKind::dequantize, {from}, {w}, DequantizeAttributes{form});
        h.run(host::kernel(OpKind::dequantize));
        h.expect_same_bytes(w);
        auto const element = elements_of(quantized, bytes);
        auto const results = h.results(w);
        for (std::int64_t i = 0; i < std::ssize(results); ++i) {
          auto const expected = T() == DType::bf16 ? to_float(to_bf16(element(i))) : element(i);
          ASSERT_EQ(results[static_cast<std::size_t>(i)], expected) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace spillway::kernels_dequantize_test
