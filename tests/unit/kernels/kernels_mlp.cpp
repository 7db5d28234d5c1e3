// mlp and mlp_backward, which take some rows at a time, against their serial references and against
// themselves with all rows at once.
#include <gtest/gtest.h>

#include <optional>

#include "kernels/host/workspaces.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_mlp_test {
namespace {

using test::KernelHarness;

struct Shape {
  DType element = DType::f32, gradient = DType::f32;
  bool gated = false, biases = true, transposes = false;
  double dropout = 0;
};

// Three samples of 19 rows, which no tile divides.
struct Mlp {
  static constexpr std::int64_t samples = 3, sequence = 19, rows = samples * sequence;
  static constexpr std::int64_t columns = 23, inner = 37;

  Shape shape;
  KernelHarness h;
  std::int64_t in = shape.gated ? 2 * inner : inner;
  View x = normal({rows, columns}, 1), addend = normal({rows, columns}, 1),
       dy = normal({rows, columns}, 1);
  View w_in = matrix(columns, in), w_out = matrix(inner, columns);
  View bias_in = vector(in), bias_out = vector(columns);
  View draws = h.tensor(DType::i64, {samples});
  View y = h.tensor(shape.element, {rows, columns}), dx = h.tensor(shape.element, {rows, columns});
  View dw_in = gradient(w_in), dw_out = gradient(w_out);
  View dbias_in = gradient(bias_in), dbias_out = gradient(bias_out);

  explicit Mlp(Shape const& asked) : shape(asked) { h.set_all(draws, {7, 0x1p33 + 1, 12}); }

  void forward(std::int64_t chunk) {
    h.op(OpKind::mlp, {x, w_in, bias_in, w_out, bias_out, addend, drops() ? draws : View{}}, {y},
         attributes(chunk));
    run(OpKind::mlp);
  }
  void backward(std::int64_t chunk) {
    h.op(OpKind::mlp_backward, {dy, x, w_in, bias_in, w_out, addend, drops() ? draws : View{}},
         {dx, dw_in, dbias_in, dw_out, dbias_out}, attributes(chunk));
    run(OpKind::mlp_backward);
  }
  std::vector<View> gradients() const {
    std::vector<View> all = {dx, dw_in, dw_out};
    if (shape.biases) all.insert(all.end(), {dbias_in, dbias_out});
    return all;
  }

 private:
  bool drops() const { return shape.dropout > 0; }
  MlpAttributes attributes(std::int64_t chunk) const {
    return {chunk, Activation::gelu_erf, shape.gated, {shape.dropout, sequence, 5, 6}};
  }
  void run(OpKind kind) {
    h.graph().arithmetic.threads = 2;
    h.run(host::kernel(kind));
  }
  View normal(spillway::Shape extents, double deviation) {
    auto const view = h.tensor(shape.element, std::move(extents));
    h.fill_normal(view, deviation);
    return view;
  }
  View matrix(std::int64_t rows, std::int64_t columns) {
    return shape.transposes ? transposed(normal({columns, rows}, 0.2))
                            : normal({rows, columns}, 0.2);
  }
  View vector(std::int64_t n) { return shape.biases ? normal({n}, 0.2) : View{}; }
  View gradient(View const& parameter) {
    if (!is_present(parameter)) return {};
    auto extents = parameter.shape;
    if (!shape.transposes || extents.size() == 1) return h.tensor(shape.gradient, extents);
    return transposed(h.tensor(shape.gradient, {extents[1], extents[0]}));
  }
};

std::vector<Shape> shapes() {
  auto const f32 = DType::f32, bf16 = DType::bf16;
  return {{f32, f32, false, true, false, 0}, {f32, f32, true, false, true, 0.3},
          {bf16, f32, true, false, true, 0}, {bf16, bf16, false, true, false, 0.3},
          {bf16, bf16, true, true, true, 0}, {bf16, f32, false, false, false, 0.3}};
}

// What lies between the products is rounded to bf16 twice on the way, and may be rounded to
// neighbours; sums of 57 rows of such then differ by some of that.
double error(Shape const& shape) {
  return shape.element == DType::bf16 ? 0.1 : 1e-4;
}
double neighbours(Shape const& shape) {
  return shape.element == DType::bf16 ? 0x1p-6 : 1e-5;
}

TEST(KernelMlp, by_tiles_is_what_plain_loops_make) {
  for (Shape const& shape : shapes())
    for (std::int64_t const chunk : {1, 12, 57, 1000}) {
      SCOPED_TRACE(chunk);
      Mlp c(shape);
      c.forward(chunk);
      c.h.expect_close(c.y, error(shape), neighbours(shape));
      c.backward(chunk);
      for (View const& gradient : c.gradients())
        c.h.expect_close(gradient, error(shape), neighbours(shape));
    }
}

void expect_near(std::vector<double> const& a, std::vector<double> const& b, Shape const& shape) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], error(shape) + neighbours(shape) * std::abs(b[i])) << i;
}

// Random numbers are drawn for the rows of a sample, not for those of a tile.
TEST(KernelMlp, is_the_same_in_one_tile_and_in_many) {
  for (Shape const& shape : shapes()) {
    Mlp whole(shape), parts(shape);
    whole.forward(1000);
    parts.forward(8);
    expect_near(parts.h.results(parts.y), whole.h.results(whole.y), shape);
    whole.backward(1000);
    parts.backward(8);
    for (std::size_t i = 0; i < whole.gradients().size(); ++i)
      expect_near(parts.h.results(parts.gradients()[i]), whole.h.results(whole.gradients()[i]),
                  shape);
  }
}

// 256 + 1 rounds to 256 in bf16, and 256 + 1 + 1 is 258.
TEST(KernelMlp, rounds_gradients_once_after_all_tiles) {
  KernelHarness h;
  constexpr std::int64_t rows = 12;
  auto const of = [&](DType type, spillway::Shape extents, double value) {
    auto const view = h.tensor(type, std::move(extents));
    h.fill_normal(view, 0, value);
    return view;
  };
  auto const bf16 = DType::bf16;
  auto const x = of(bf16, {rows, 1}, 1), w = of(bf16, {1, 1}, 1), dy = of(bf16, {rows, 1}, 0.25);
  for (int row = 0; row < 4; ++row) h.set(dy, row, 64);
  auto const dx = h.tensor(bf16, {rows, 1}), dw_in = h.tensor(bf16, {1, 1}),
             dw_out = h.tensor(bf16, {1, 1}), dbias = h.tensor(bf16, {1});
  h.op(OpKind::mlp_backward, {dy, x, w, {}, w, {}, {}}, {dx, dw_in, dbias, dw_out, {}},
       MlpAttributes{4, Activation::relu, false, {}});
  h.run(host::kernel(OpKind::mlp_backward));
  for (View const& gradient : {dw_in, dw_out, dbias}) EXPECT_EQ(h.result(gradient, 0), 258);
}

TEST(KernelMlp, makes_no_gradient_of_what_is_frozen) {
  for (auto const element : {DType::f32, DType::bf16}) {
    Shape shape;
    shape.element = element;
    shape.biases = true;
    Mlp all(shape), frozen(shape), half(shape);
    all.backward(8);
    frozen.dw_in = frozen.dw_out = frozen.dbias_in = frozen.dbias_out = half.dw_in = {};
    for (Mlp* const some : {&frozen, &half}) {
      some->backward(8);
      EXPECT_EQ(some->h.results(some->dx), all.h.results(all.dx));
    }
    EXPECT_EQ(half.h.results(half.dw_out), all.h.results(all.dw_out));
  }
}

// Of what a long sequence has between its products a tile is all that exists.
TEST(KernelMlp, needs_no_more_memory_for_more_rows) {
  for (auto const* const target : {"host", "sm_90"}) {
    std::optional<std::int64_t> first;
    for (std::int64_t const rows : {64, 64 * 97 + 5}) {
      KernelHarness h;
      auto const bf16 = DType::bf16;
      auto const x = h.tensor(bf16, {rows, 64}), w_in = h.tensor(bf16, {64, 512}),
                 w_out = h.tensor(bf16, {256, 64});
      h.op(OpKind::mlp_backward, {x, x, w_in, {}, w_out, {}, {}},
           {x, h.tensor(DType::f32, {64, 512}), {}, h.tensor(DType::f32, {256, 64}), {}},
           MlpAttributes{64, Activation::silu, true, {}});
      auto const bytes = workspace_bytes(target, h.context(), h.op());
      EXPECT_GT(bytes, 64 * 2 * (512 + 256 + 512));
      EXPECT_EQ(bytes, first.value_or(bytes)) << target;
      first = bytes;
    }
  }
}

}  // namespace
}  // namespace spillway::kernels_mlp_test
