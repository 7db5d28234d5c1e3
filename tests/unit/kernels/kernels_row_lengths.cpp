// Operands that are columns of matrices of unlike widths: each is read and written by the length of
// its own rows, with the results that it has where nothing lies between its rows.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/host/product.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_row_lengths_test {
namespace {

using test::KernelHarness;

// Makes operands, which begin at columns of their own if they are wide; then rows of an even number
// of columns begin an odd number of elements apart. Two of these that are asked for the same
// operands fill them alike.
class OperandMaker {
 public:
  explicit OperandMaker(bool wide) : m_wide(wide) {}

  View matrix(std::int64_t rows, std::int64_t columns) {
    ++m_made;
    auto const before = m_wide ? m_made : 0, behind = m_wide ? before + 1 : 0;
    auto const all = h.tensor(DType::f32, {rows, before + columns + behind});
    return filled(spillway::columns(all, before, columns));
  }
  View dense(Shape shape) { return filled(h.tensor(DType::f32, std::move(shape))); }
  View integers(std::int64_t count, std::int64_t past) {
    auto const view = h.tensor(DType::i32, {count});
    h.fill_integers(view, 0, past);
    return view;
  }

  KernelHarness h;

 private:
  View filled(View const& view) {
    h.fill_normal(view, 1);
    return view;
  }

  bool m_wide;
  std::int64_t m_made = 0;
};

// `make` sets the op of the given operands.
template <class Make>
void expect_same_results(OpKind kind, Make const& make) {
  OperandMaker plain(false), wide(true);
  for (auto* operands : {&plain, &wide}) {
    make(*operands);
    operands->h.run(host::kernel(kind));
  }
  auto const outputs = plain.h.op().outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto const& of_wide = wide.h.op().outputs[i];
    EXPECT_EQ(wide.h.results(of_wide), plain.h.results(outputs[i])) << "output " << i;
    EXPECT_EQ(wide.h.serial_results(of_wide), plain.h.serial_results(outputs[i])) << i;
    for (double const x : plain.h.results(outputs[i])) ASSERT_TRUE(std::isfinite(x));
  }
}

TEST(RowsOfUnlikeLengths, of_rmsnorm_and_of_its_gradient) {
  expect_same_results(OpKind::rmsnorm, [](OperandMaker& o) {
    auto const x = o.matrix(5, 6), y = o.matrix(5, 6);
    o.h.op(OpKind::rmsnorm, {x, o.dense({3})}, {y, o.dense({5, 2})}, NormAttributes{1e-5});
  });
  expect_same_results(OpKind::rmsnorm_backward, [](OperandMaker& o) {
    auto const dy = o.matrix(5, 6), x = o.matrix(5, 6), addend = o.matrix(5, 6);
    auto const dx = o.matrix(5, 6), gamma = o.dense({3}), rstd = o.dense({5, 2});
    o.h.op(OpKind::rmsnorm_backward, {dy, x, gamma, rstd, addend}, {dx, o.dense({3})});
  });
}

TEST(RowsOfUnlikeLengths, of_a_gate_and_of_its_gradient) {
  expect_same_results(OpKind::gated, [](OperandMaker& o) {
    auto const gate = o.matrix(5, 7), up = o.matrix(5, 7), y = o.matrix(5, 7);
    o.h.op(OpKind::gated, {gate, up}, {y}, ActivationAttributes{Activation::silu});
  });
  expect_same_results(OpKind::gated_backward, [](OperandMaker& o) {
    auto const gate = o.matrix(5, 7), up = o.matrix(5, 7), dy = o.matrix(5, 7);
    auto const dgate = o.matrix(5, 7), dup = o.matrix(5, 7);
    o.h.op(OpKind::gated_backward, {gate, up, dy}, {dgate, dup},
           ActivationAttributes{Activation::silu});
  });
}

TEST(RowsOfUnlikeLengths, of_rotary_positions) {
  expect_same_results(OpKind::rope, [](OperandMaker& o) {
    auto const x = o.matrix(5, 11), y = o.matrix(5, 11);
    o.h.op(OpKind::rope, {x, o.integers(5, 100)}, {y},
           RopeAttributes{.sequence = 5, .heads = 2, .head_size = 4});
  });
}

TEST(RowsOfUnlikeLengths, of_which_one_is_selected) {
  expect_same_results(OpKind::select_row, [](OperandMaker& o) {
    auto const x = o.matrix(5, 7), position = o.integers(1, 5);
    o.h.set(position, 0, 3);
    o.h.op(OpKind::select_row, {x, position}, {o.dense({1, 7})});
  });
}

AttentionAttributes attention(std::int64_t head_size) {
  return {.batch = 2,
          .queries = 5,
          .keys = 7,
          .heads = 2,
          .kv_heads = 1,
          .head_size = head_size,
          .scale = 0.5,
          .tile = 32};
}

TEST(RowsOfUnlikeLengths, of_attention) {
  for (std::int64_t const d : {3, 12})
    expect_same_results(OpKind::attention, [d](OperandMaker& o) {
      auto const q = o.matrix(10, 2 * d), k = o.matrix(14, d), v = o.matrix(14, d);
      auto const out = o.matrix(10, 2 * d);
      o.h.op(OpKind::attention, {q, k, v, {}, {}, o.dense({2, 11}), {}, {}},
             {out, o.dense({2, 2, 5})}, attention(d));
    });
}

TEST(RowsOfUnlikeLengths, of_the_gradient_of_attention) {
  for (std::int64_t const d : {3, 12})
    expect_same_results(OpKind::attention_backward, [d](OperandMaker& o) {
      auto const q = o.matrix(10, 2 * d), k = o.matrix(14, d), v = o.matrix(14, d);
      auto const out = o.matrix(10, 2 * d), lse = o.dense({2, 2, 5}), d_o = o.matrix(10, 2 * d);
      auto const bias = o.dense({2, 11}), dq = o.matrix(10, 2 * d);
      auto const dk = o.matrix(14, d), dv = o.matrix(14, d);
      o.h.op(OpKind::attention_backward, {q, k, v, out, lse, d_o, {}, {}, bias, {}},
             {dq, dk, dv, o.dense({2, 11})}, attention(d));
    });
}

// Plain loops, whose bits depend on no stride.
TEST(RowsOfUnlikeLengths, of_the_head_and_of_its_gradient) {
  auto const make = [](OperandMaker& o, OpKind kind) {
    o.h.graph().arithmetic.isa = host::kPortable;
    auto const x = o.matrix(5, 6), w = o.matrix(9, 6), bias = o.dense({9});
    auto const targets = o.integers(5, 9), weights = o.dense({5});
    std::vector<View> outputs = {o.dense({5}), o.h.tensor(DType::f64, {2})};
    if (kind == OpKind::lm_head_loss_backward)
      for (auto const& more : {o.matrix(5, 6), o.dense({9, 6}), o.dense({9})})
        outputs.push_back(more);
    o.h.op(kind, {x, w, targets, weights, bias}, outputs, LmHeadAttributes{3, 0.5});
  };
  for (auto const kind : {OpKind::lm_head_loss, OpKind::lm_head_loss_backward})
    expect_same_results(kind, [&](OperandMaker& o) { make(o, kind); });
}

}  // namespace
}  // namespace spillway::kernels_row_lengths_test
