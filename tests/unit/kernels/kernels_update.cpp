// square_norm and adamw: bits on the compute and the host lane, and a fp64 reference formula.
#include <gtest/gtest.h>

#include <cmath>

#include "base/bf16.hpp"
#include "graph/sharing.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_update_test {
namespace {

using test::KernelHarness;

struct Types {
  DType parameter, gradient, moment;
};

class KernelUpdate : public ::testing::TestWithParam<Types> {};
INSTANTIATE_TEST_SUITE_P(Types, KernelUpdate,
                         ::testing::Values(Types{DType::f32, DType::f32, DType::f32},
                                           Types{DType::f32, DType::f32, DType::bf16},
                                           Types{DType::f32, DType::bf16, DType::f32},
                                           Types{DType::f32, DType::bf16, DType::bf16},
                                           Types{DType::bf16, DType::f32, DType::f32},
                                           Types{DType::bf16, DType::bf16, DType::f32},
                                           Types{DType::bf16, DType::bf16, DType::bf16},
                                           Types{DType::bf16, DType::f32, DType::bf16}),
                         [](auto const& info) {
                           return std::string(name(info.param.parameter)) + "_" +
                                  std::string(name(info.param.gradient)) + "_" +
                                  std::string(name(info.param.moment));
                         });

constexpr double kBeta1 = 0.9, kBeta2 = 0.95, kEps = 1e-8, kDecay = 0.1;

struct Update {
  KernelHarness h;
  Chunk chunk;
  View gradient, control, parameter, remainder, m, v;

  explicit Update(Types const& t, std::vector<std::int64_t> const& sizes = {9001, 83, 1, 768})
      : chunk(h.chunk(sizes)),
        gradient(h.tensor(t.gradient, {chunk.elements})),
        control(h.tensor(DType::f64, {kControlWords})),
        parameter(h.tensor(t.parameter, {chunk.elements})),
        remainder(h.tensor(DType::i16, {chunk.elements})),
        m(h.tensor(t.moment, {chunk.elements})),
        v(h.tensor(t.moment, {chunk.elements})) {
    bool const split = t.parameter == DType::bf16;
    for (auto const& p : chunk.parameters) {
      auto const n = element_count(p.view.shape);
      h.fill_normal(in(parameter, p), 0.02);
      h.fill_integers(in(remainder, p), -0x8000, 0x8000);
      h.set_all(in(m, p), std::vector<double>(static_cast<std::size_t>(n)));
      h.set_all(in(v, p), std::vector<double>(static_cast<std::size_t>(n)));
    }
    h.op(OpKind::adamw, {gradient, control}, {parameter, split ? remainder : View{}, m, v},
         AdamWAttributes{kBeta1, kBeta2, kEps, kDecay, {}});
  }

  // The window of a parameter in a tensor of the chunk's size.
  static View in(View const& tensor, Parameter const& p) {
    return {tensor.tensor, p.view.offset, p.view.shape, p.view.strides};
  }

  void begin_step(int step, bool go = true) {
    for (auto const& p : chunk.parameters) h.fill_normal(in(gradient, p), 10);
    h.set(in(gradient, chunk.parameters[0]), 0, 0);
    h.set_all(control, {go ? 1.0 : 0.0, 0.125, 1e-3, 1 - std::pow(kBeta1, step),
                        1 - std::pow(kBeta2, step), static_cast<double>(step), 0, 0});
  }
  void expect_same_on_both_lanes() const {
    for (auto const& output : {parameter, remainder, m, v}) h.expect_same_bytes(output);
  }
};

// The masters, at fp32's full precision whatever they are stored as.
std::vector<double> masters(std::vector<double> parameter, std::vector<double> const& remainder,
                            DType type) {
  for (std::size_t i = 0; i < parameter.size() && type == DType::bf16; ++i)
    parameter[i] = join_master(to_bf16(static_cast<float>(parameter[i])),
                               static_cast<std::int16_t>(remainder[i]));
  return parameter;
}

TEST_P(KernelUpdate, ten_steps_give_equal_bits_on_the_compute_and_the_host_lane) {
  Update u(GetParam());
  for (int step = 1; step <= 10; ++step) {
    u.begin_step(step);
    u.h.run(host::kernel(OpKind::adamw));
    u.expect_same_on_both_lanes();
    u.h.keep_results();
  }
}

TEST_P(KernelUpdate, ten_steps_follow_the_formula_in_fp64) {
  Update u(GetParam(), {83, 37});
  // Moments in bf16 are rounded in every step; the reference is not.
  double const bound = GetParam().moment == DType::bf16 ? 2e-4 : 1e-7;
  auto const type = GetParam().parameter;
  std::vector<std::vector<double>> w, m(2), v(2);
  for (auto const& p : u.chunk.parameters)
    w.push_back(masters(u.h.contents(Update::in(u.parameter, p)),
                        u.h.contents(Update::in(u.remainder, p)), type));
  for (int step = 1; step <= 10; ++step) {
    u.begin_step(step);
    u.h.run(host::kernel(OpKind::adamw));
    for (std::size_t k = 0; k < w.size(); ++k) {
      auto const& p = u.chunk.parameters[k];
      auto const gradient = u.h.contents(Update::in(u.gradient, p));
      m[k].resize(w[k].size());
      v[k].resize(w[k].size());
      auto const now = masters(u.h.results(Update::in(u.parameter, p)),
                               u.h.results(Update::in(u.remainder, p)), type);
      for (std::size_t i = 0; i < w[k].size(); ++i) {
        double const g = gradient[i] * 0.125;
        m[k][i] = kBeta1 * m[k][i] + (1 - kBeta1) * g;
        v[k][i] = kBeta2 * v[k][i] + (1 - kBeta2) * g * g;
        double const m_hat = m[k][i] / (1 - std::pow(kBeta1, step));
        double const v_hat = v[k][i] / (1 - std::pow(kBeta2, step));
        w[k][i] -= 1e-3 * (p.decay ? kDecay * w[k][i] : 0);
        w[k][i] -= 1e-3 * m_hat / (std::sqrt(v_hat) + kEps);
        ASSERT_NEAR(now[i], w[k][i], bound) << "step " << step << ", " << p.name << "[" << i << "]";
      }
    }
    u.h.keep_results();
  }
}

TEST_P(KernelUpdate, gaps_between_parameters_are_never_touched) {
  Update u(GetParam());
  u.begin_step(1);
  u.h.run(host::kernel(OpKind::adamw));
  for (auto const& tensor : {u.parameter, u.remainder, u.m, u.v}) {
    View const gap{tensor.tensor, 9001, {9024 - 9001}, {1}};
    for (auto const value : u.h.results(gap)) {
      EXPECT_TRUE(std::isnan(value) || value == -1) << "the harness's poison is gone";
    }
  }
}

TEST_P(KernelUpdate, nothing_changes_when_the_step_is_not_committed) {
  Update u(GetParam());
  u.begin_step(1, false);
  auto const before = u.h.contents(Update::in(u.parameter, u.chunk.parameters[0]));
  u.h.run(host::kernel(OpKind::adamw));
  u.expect_same_on_both_lanes();
  EXPECT_EQ(u.h.results(Update::in(u.parameter, u.chunk.parameters[0])), before);
}

TEST_P(KernelUpdate, nothing_changes_where_whether_to_go_is_not_a_number) {
  Update u(GetParam());
  u.begin_step(1);
  u.h.set(u.control, 0, std::nan(""));
  std::vector<std::vector<double>> before, after;
  for (auto const& p : u.chunk.parameters)
    for (auto const& tensor : {u.parameter, u.m, u.v})
      before.push_back(u.h.contents(Update::in(tensor, p)));
  u.h.run(host::kernel(OpKind::adamw));
  u.expect_same_on_both_lanes();
  for (auto const& p : u.chunk.parameters)
    for (auto const& tensor : {u.parameter, u.m, u.v})
      after.push_back(u.h.results(Update::in(tensor, p)));
  EXPECT_EQ(after, before);
}

TEST_P(KernelUpdate, square_norm_is_exact_to_fp64_and_equal_on_both_lanes_and_all_threads) {
  KernelHarness h;
  auto const chunk = h.chunk({9001, 83, 1, 4096});
  auto const gradient = h.tensor(GetParam().gradient, {chunk.elements});
  auto const norms = h.tensor(DType::f64, {3});
  View const norm{norms.tensor, 1, {1}, {1}};
  double expected = 0;
  for (auto const& p : chunk.parameters) {
    h.fill_normal(Update::in(gradient, p), 1);
    if (p.view.offset == 0) h.set(Update::in(gradient, p), 4096, 1e15);
    for (double const g : h.contents(Update::in(gradient, p))) expected += g * g;
  }
  h.op(OpKind::square_norm, {gradient}, {norm}, UpdateRange{});
  for (int const threads : {1, 3}) {
    h.run(host::kernel(OpKind::square_norm), threads);
    h.expect_same_bytes(norms);
    EXPECT_NEAR(h.result(norm, 0), expected, 1e-14 * expected);
  }
}

TEST_P(KernelUpdate, norms_of_slices_are_those_that_a_rank_with_its_slice_alone_finds) {
  constexpr std::int64_t kRanks = 3;
  KernelHarness h;
  auto const chunk = h.chunk({9001, 83, 1, 4096, 12345});
  auto const gradient = h.tensor(GetParam().gradient, {chunk.elements});
  auto const norms = h.tensor(DType::f64, {kRanks}), alone = h.tensor(DType::f64, {1});
  for (auto const& p : chunk.parameters) h.fill_normal(Update::in(gradient, p), 1);
  h.op(OpKind::square_norm, {gradient}, {norms}, UpdateRange{});
  h.run(host::kernel(OpKind::square_norm));
  h.expect_same_bytes(norms);
  auto const all = h.results(norms);
  for (std::int64_t rank = 0; rank < kRanks; ++rank) {
    auto const slice = gradient_slice(chunk.elements, rank, kRanks);
    View const part{gradient.tensor, slice.first, {slice.count}, {1}};
    h.op(OpKind::square_norm, {part}, {alone}, UpdateRange{slice.first});
    h.run(host::kernel(OpKind::square_norm));
    h.expect_same_bytes(alone);
    EXPECT_EQ(h.result(alone, 0), all[static_cast<std::size_t>(rank)]) << rank;
  }
}

// Each rank of two nodes keeps two slices in memory of its own.
TEST_P(KernelUpdate, norms_of_what_ranks_keep_are_those_of_all_slices) {
  constexpr std::int64_t kRanks = 4;
  KernelHarness h;
  auto& chunk = h.chunk({9001, 83, 1, 4096, 12345});
  chunk.sharers = 2;
  h.graph().arithmetic.ranks = kRanks;
  Sharing const sharing{kRanks, chunk.sharers};
  auto const elements = chunk.elements, most = sharing.kept(elements, 0).count;
  auto const gradient = h.tensor(GetParam().gradient, {elements});
  auto const kept = h.tensor(GetParam().gradient, {most});
  auto const norms = h.tensor(DType::f64, {kRanks});
  for (auto const& p : chunk.parameters) h.fill_normal(Update::in(gradient, p), 1);
  h.op(OpKind::square_norm, {gradient}, {norms}, UpdateRange{});
  h.run(host::kernel(OpKind::square_norm));
  auto const all = h.results(norms), values = h.contents(gradient);
  for (int rank = 0; rank < kRanks; ++rank) {
    auto const own = sharing.kept(elements, rank);
    std::vector<double> of_rank(static_cast<std::size_t>(most), 1e9);  // behind the end
    std::copy_n(values.begin() + own.first, own.count, of_rank.begin());
    h.set_all(kept, of_rank);
    h.op(OpKind::square_norm, {kept}, {norms}, UpdateRange{0, true});
    h.run_as(rank);
    h.run(host::kernel(OpKind::square_norm));
    View const own_norms{norms.tensor, rank % 2 * 2, {2}, {1}};
    h.expect_same_bytes(own_norms);
    auto const first = all.begin() + rank % 2 * 2;
    EXPECT_EQ(h.results(own_norms), std::vector(first, first + 2)) << rank;
  }
}

// A single tile, which the first rank has; what norms held before is not kept.
TEST_P(KernelUpdate, norms_of_ranks_without_a_slice_are_zero) {
  KernelHarness h;
  auto const chunk = h.chunk({100});
  auto const gradient = h.tensor(GetParam().gradient, {chunk.elements});
  auto const norms = h.tensor(DType::f64, {3});
  h.set_all(Update::in(gradient, chunk.parameters[0]), std::vector<double>(100, 2));
  h.set_all(norms, {7, 7, 7});
  h.op(OpKind::square_norm, {gradient}, {norms}, UpdateRange{});
  h.run(host::kernel(OpKind::square_norm));
  EXPECT_EQ(h.results(norms), (std::vector<double>{400, 0, 0}));
  EXPECT_EQ(h.serial_results(norms), (std::vector<double>{400, 0, 0}));
}

// Between two parameters, where the harness's poison is.
TEST_P(KernelUpdate, the_norm_of_a_gap_is_zero) {
  KernelHarness h;
  auto const chunk = h.chunk({9001, 83});
  auto const gradient = h.tensor(GetParam().gradient, {chunk.elements});
  auto const norm = h.tensor(DType::f64, {1});
  h.op(OpKind::square_norm, {View{gradient.tensor, 9001, {23}, {1}}}, {norm}, UpdateRange{9001});
  h.run(host::kernel(OpKind::square_norm));
  EXPECT_EQ(h.result(norm, 0), 0);
  EXPECT_EQ(h.serial_results(norm), std::vector<double>{0});
}

TEST_P(KernelUpdate, the_norm_of_an_empty_slice_is_zero) {
  KernelHarness h;
  auto const elements = h.chunk({100}).elements;
  auto const gradient = h.tensor(GetParam().gradient, {elements});
  auto const norm = h.tensor(DType::f64, {1});
  h.op(OpKind::square_norm, {View{gradient.tensor, elements, {0}, {1}}}, {norm},
       UpdateRange{elements});
  h.run(host::kernel(OpKind::square_norm));
  h.expect_same_bytes(norm);
  EXPECT_EQ(h.result(norm, 0), 0);
}

}  // namespace
}  // namespace spillway::kernels_update_test
