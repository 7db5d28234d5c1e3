// Ops that take a row at a time, on few rows that are several times as long as what a team of
// threads takes at once, and of odd length: a compiler unrolls a device's loops over columns.
#include <gtest/gtest.h>

#include "tests/support/kernel_harness.hpp"
#include "tests/unit/kernels/kernel_rows.hpp"

namespace spillway::kernels_long_rows_test {
namespace {

using test::KernelHarness, test::Types;

class LongRows : public test::KernelRows {
 protected:
  static constexpr std::int64_t kRows = 5, kColumns = 1003;

  View matrix(DType dtype, std::int64_t rows = kRows, std::int64_t columns = kColumns) {
    auto const view = h.tensor(dtype, {rows, columns});
    h.fill_normal(view, 1);
    return view;
  }
  View row(DType dtype, std::int64_t columns = kColumns, double mean = 0) {
    auto const view = h.tensor(dtype, {columns});
    h.fill_normal(view, 0.5, mean);
    return view;
  }
  View numbers(std::int64_t past) {
    auto const view = h.tensor(DType::i32, {kRows});
    h.fill_integers(view, 0, past);
    return view;
  }
  void run(OpKind kind, std::vector<View> const& inputs, std::vector<View> const& outputs,
           Attributes const& attributes = {}, std::vector<int> const& in_place = {}) {
    h.op(kind, inputs, outputs, attributes, in_place);
    h.run(host::kernel(kind));
  }

  KernelHarness h;
};
INSTANTIATE_TEST_SUITE_P(
    Of, LongRows,
    ::testing::Values(Types{DType::f32, DType::f32}, Types{DType::f32, DType::bf16},
                      Types{DType::bf16, DType::f32}, Types{DType::bf16, DType::bf16}),
    [](auto const& info) {
      return std::string(name(info.param.element)) + "_" + std::string(name(info.param.gradient));
    });

TEST_P(LongRows, of_norms_follow_fp64) {
  auto const x = matrix(T()), y = matrix(T()), gamma = row(T(), kColumns, 1), beta = row(T());
  auto const mean = row(DType::f32, kRows);
  run(OpKind::layernorm, {x, gamma, beta}, {y, mean, row(DType::f32, kRows)}, NormAttributes{1e-5});
  h.expect_close(mean, 1e-6, 1e-6);
  h.expect_close(y, 1e-5, rounding(T()) + 1e-5);
  auto const rstd = h.tensor(DType::f32, {kRows, 1});
  run(OpKind::rmsnorm, {x, gamma}, {y, rstd}, NormAttributes{1e-5});
  h.expect_close(rstd, 0, 1e-5);
  h.expect_close(y, 1e-5, rounding(T()) + 1e-5);
}

TEST_P(LongRows, of_gradients_of_norms_follow_fp64) {
  for (bool const has_addend : {false, true}) {
    auto const dy = matrix(T()), x = matrix(T()), dx = matrix(T());
    auto const gamma = row(T(), kColumns, 1), dgamma = row(G()), dbeta = row(G());
    auto const addend = has_addend ? matrix(T()) : View{};
    run(OpKind::layernorm_backward,
        {dy, x, gamma, row(DType::f32, kRows), row(DType::f32, kRows, 1), addend},
        {dx, dgamma, dbeta});
    h.expect_close(dx, 1e-5, rounding(T()) + 1e-5);
    for (auto const& view : {dgamma, dbeta}) h.expect_close(view, 1e-4, rounding(G()) + 1e-5);
    auto const rstd = h.tensor(DType::f32, {kRows, 1});
    h.fill_normal(rstd, 0.1, 1);
    run(OpKind::rmsnorm_backward, {dy, x, gamma, rstd, addend}, {dx, dgamma});
    h.expect_close(dx, 1e-4, rounding(T()) + 1e-5);
    h.expect_close(dgamma, 2e-3, rounding(G()) + 1e-5);
  }
}

TEST_P(LongRows, of_tables_are_added_and_take_their_gradients) {
  auto const words = numbers(9), places = numbers(7), types = numbers(3), x = matrix(T());
  for (bool const has_places : {false, true})
    for (bool const has_types : {false, true}) {
      auto const of_places = has_places ? matrix(T(), 7) : View{};
      auto const of_types = has_types ? matrix(T(), 3) : View{};
      run(OpKind::embed,
          {words, matrix(T(), 9), of_places, has_places ? places : View{},
           has_types ? types : View{}, of_types},
          {x}, EmbedAttributes{kRows});
      h.expect_same_bytes(x);
    }
  auto const of_words = matrix(G(), 9), of_places = matrix(G(), 7), of_types = matrix(G(), 3);
  run(OpKind::embed_backward, {words, x, places, types}, {of_words, of_places, of_types},
      EmbedAttributes{kRows});
  for (auto const& view : {of_words, of_places, of_types}) h.expect_same_bytes(view);
}

TEST_P(LongRows, of_gates_follow_the_textbook) {
  for (auto const form :
       {Activation::gelu_tanh, Activation::gelu_erf, Activation::relu, Activation::silu}) {
    auto const gate = matrix(T()), up = matrix(T()), y = matrix(T()), d_up = matrix(T());
    auto const d_gate = matrix(T());
    run(OpKind::gated, {gate, up}, {y}, ActivationAttributes{form});
    h.expect_close(y, 1e-10, rounding(T()) + 2e-6);
    run(OpKind::gated_backward, {gate, up, matrix(T())}, {d_gate, d_up},
        ActivationAttributes{form});
    h.expect_close(d_gate, 1e-5, rounding(T()) + 2e-6);
    h.expect_close(d_up, 1e-10, rounding(T()) + 2e-6);
  }
}

TEST_P(LongRows, are_turned_copied_chosen_and_summed) {
  auto const x = matrix(T()), y = matrix(T()), cache = matrix(T(), 2 * kRows);
  // Several heads, and many columns that are copied.
  run(OpKind::rope, {x, numbers(100)}, {y},
      RopeAttributes{.sequence = kRows, .heads = 5, .head_size = 100});
  h.expect_close(y, 1e-6, rounding(T()));
  auto const positions = numbers(1);
  for (int i = 0; i < kRows; ++i) h.set(positions, i, i + 3);
  run(OpKind::store_rows, {x, positions}, {cache}, {}, {0});
  h.expect_same_bytes(cache);
  auto const chosen = matrix(T(), 1), position = h.tensor(DType::i32, {1});
  h.set(position, 0, 3);
  run(OpKind::select_row, {x, position}, {chosen});
  h.expect_same_bytes(chosen);
  auto const sum = row(G());
  run(OpKind::column_sum, {x}, {sum});
  h.expect_close(sum, 1e-4, rounding(G()) + 1e-6);
}

}  // namespace
}  // namespace spillway::kernels_long_rows_test
