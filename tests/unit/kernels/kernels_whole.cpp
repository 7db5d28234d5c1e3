// Updates that take parameters whole, Adafactor and Muon: bits on the compute and the host lane,
// and formulas in fp64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/bf16.hpp"
#include "kernels/host_pool.hpp"
#include "tests/support/kernel_harness.hpp"
#include "tests/unit/kernels/whole_reference.hpp"

namespace spillway::kernels_whole_test {
namespace {

using test::KernelHarness;
using test::WholeReference;

struct Case {
  OpKind kind;
  DType parameter, gradient;
  AdjustLr adjust_lr = AdjustLr::match_rms_adamw;

  std::string text() const {
    return std::string(name(kind)) + "_" + std::string(name(parameter)) + "_" +
           std::string(name(gradient)) + "_" + std::string(word(adjust_lr));
  }
};

std::vector<Case> cases() {
  using enum DType;
  std::vector<Case> all;
  for (auto const kind : {OpKind::adafactor, OpKind::muon})
    for (auto const parameter : {f32, bf16})
      for (auto const gradient : {f32, bf16}) all.push_back({kind, parameter, gradient});
  all.push_back({OpKind::muon, f32, f32, AdjustLr::original});
  return all;
}

// A wide matrix, a tall one, vectors, a row, a column and a number.
std::vector<Shape> const kShapes = {{37, 83}, {131, 35}, {300}, {1, 67}, {41, 1}, {1}, {97, 97}};

struct Update {
  Case c;
  KernelHarness h;
  Chunk& chunk;
  View gradient, control, parameter, remainder, m, v;

  explicit Update(Case const& of)
      : c(of),
        chunk(h.chunk(sizes())),
        gradient(h.tensor(c.gradient, {chunk.elements})),
        control(h.tensor(DType::f64, {kControlWords})),
        parameter(h.tensor(c.parameter, {chunk.elements})),
        remainder(h.tensor(DType::i16, {chunk.elements})) {
    for (std::size_t i = 0; i < kShapes.size(); ++i)
      chunk.parameters[i].view = reshaped(chunk.parameters[i].view, kShapes[i]);
    if (is_muon()) m = add_state("m", [](Shape const& shape) { return element_count(shape); });
    v = add_state("v", [this](Shape const& shape) {
      if (shape.size() == 1) return element_count(shape);
      return is_muon() ? 0 : shape[0] + shape[1];
    });
    for (auto const& p : chunk.parameters) {
      h.fill_normal(in(parameter, p), p.view.shape.size() == 2 ? 0.02 : 1);
      h.fill_integers(in(remainder, p), -0x8000, 0x8000);
    }
    std::vector<View> outputs = {parameter, is_split() ? remainder : View{}};
    if (is_muon()) outputs.push_back(m);
    outputs.push_back(v);
    h.op(c.kind, {gradient, control}, outputs, attributes());
  }

  bool is_muon() const { return c.kind == OpKind::muon; }
  bool is_split() const { return c.parameter == DType::bf16; }
  std::vector<View> changed() const {
    std::vector<View> all = {parameter, v};
    if (is_muon()) all.push_back(m);
    if (is_split()) all.push_back(remainder);
    return all;
  }
  static View in(View const& tensor, Parameter const& p) {
    return {tensor.tensor, p.view.offset, {element_count(p.view.shape)}, {1}};
  }

  void begin_step(int step, double go = 1) {
    for (auto const& p : chunk.parameters) h.fill_normal(in(gradient, p), 0.01 * step);
    h.set_all(control,
              {go, kScale, test::kWholeLr, 1 - std::pow(0.9, step), 1 - std::pow(0.95, step),
               static_cast<double>(step), std::pow(step, -0.8), 0});
  }
  void run(int threads = 0) { h.run(host::kernel(c.kind), threads); }

  std::vector<double> masters(Parameter const& p, bool after) const {
    auto const of = [&](View const& tensor) {
      return after ? h.results(in(tensor, p)) : h.contents(in(tensor, p));
    };
    auto values = of(parameter);
    auto const rest = of(remainder);
    for (std::size_t i = 0; i < values.size() && is_split(); ++i)
      values[i] =
          join_master(to_bf16(static_cast<float>(values[i])), static_cast<std::int16_t>(rest[i]));
    return values;
  }

  static constexpr double kScale = 0.125;

 private:
  static std::vector<std::int64_t> sizes() {
    std::vector<std::int64_t> all;
    for (auto const& shape : kShapes) all.push_back(element_count(shape));
    return all;
  }
  template <class Elements>
  View add_state(char const* state, Elements const& elements) {
    std::vector<ElementRange> parts;
    std::int64_t end = 0;
    for (auto const& shape : kShapes) {
      parts.push_back({end, end + elements(shape)});
      end = parts.back().last;
    }
    auto const tensor = h.tensor(DType::f32, {end});
    h.set_all(tensor, std::vector<double>(static_cast<std::size_t>(end)));
    chunk.states.push_back({state, tensor.tensor, parts});
    return tensor;
  }
  Attributes attributes() const {
    if (!is_muon()) return AdafactorAttributes{1.25, 1e-3, test::kWholeDecay, {}};
    return MuonAttributes{
        0.95, test::kWholeDecay, c.adjust_lr, {0.9, 0.95, 1e-8, test::kWholeDecay, 0.5, {}, 0}, {}};
  }
};

class KernelWhole : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Types, KernelWhole, ::testing::ValuesIn(cases()),
                         [](auto const& info) { return info.param.text(); });

TEST_P(KernelWhole, ten_steps_give_equal_bits_on_both_lanes_with_any_threads) {
  Update u(GetParam());
  HostPool pool(3);
  for (int step = 1; step <= 10; ++step) {
    if (step == 5) u.h.share_reference(pool);
    u.begin_step(step);
    u.run(step % 2 == 0 ? 1 : 3);
    for (auto const& output : u.changed()) u.h.expect_same_bytes(output);
    u.h.keep_results();
  }
}

TEST_P(KernelWhole, ten_steps_follow_the_formula_in_fp64) {
  Update u(GetParam());
  std::vector<WholeReference> references;
  for (auto const& p : u.chunk.parameters)
    references.push_back(
        {GetParam().kind, GetParam().adjust_lr, p.decay, p.view.shape, u.masters(p, false)});
  for (int step = 1; step <= 10; ++step) {
    u.begin_step(step);
    u.run();
    for (std::size_t k = 0; k < references.size(); ++k) {
      auto const& p = u.chunk.parameters[k];
      references[k].step(u.h.contents(Update::in(u.gradient, p)), Update::kScale, step);
      auto const now = u.masters(p, true);
      for (std::size_t i = 0; i < now.size(); ++i)
        ASSERT_NEAR(now[i], references[k].w[i], 2e-6)
            << "step " << step << ", " << p.name << "[" << i << "]";
    }
    u.h.keep_results();
  }
}

TEST_P(KernelWhole, nothing_changes_when_the_step_is_not_committed) {
  Update u(GetParam());
  for (auto const go : {0.0, std::nan("")}) {
    u.begin_step(1, go);
    u.run();
    for (auto const& output : u.changed()) {
      u.h.expect_same_bytes(output);
      if (element_count(output.shape) != u.chunk.elements) continue;
      for (auto const& p : u.chunk.parameters) {
        auto const part = Update::in(output, p);
        EXPECT_EQ(u.h.results(part), u.h.contents(part)) << go;
      }
    }
    EXPECT_EQ(u.h.results(u.v), u.h.contents(u.v)) << go;
  }
}

// The directions of what is orthogonal have all the same length, whatever the gradient's is.
TEST(Muon, steps_are_nearly_orthogonal) {
  Update u({OpKind::muon, DType::f32, DType::f32, AdjustLr::original});
  u.begin_step(1);
  auto const& p = u.chunk.parameters[0];
  auto const before = u.masters(p, false);
  u.run();
  auto const after = u.masters(p, true);
  double const keep = 1 - test::kWholeLr * test::kWholeDecay;
  for (std::size_t row = 0; row < 37; ++row) {
    double length = 0;
    for (std::size_t i = row * 83; i < (row + 1) * 83; ++i)
      length += std::pow((after[i] - before[i] * keep) / test::kWholeLr, 2);
    EXPECT_NEAR(std::sqrt(length), 1, 0.4) << row;
  }
}

}  // namespace
}  // namespace spillway::kernels_whole_test
