// square_norm and the updates of all optimizers: bits on the compute and the host lane, and
// formulas in fp64.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

#include "graph/sharing.hpp"
#include "tests/unit/kernels/update_case.hpp"

namespace spillway::kernels_update_test {
namespace {

using test::KernelHarness;
using test::Update;
using test::UpdateTypes;

// How far masters may be from those of moments that are not rounded.
std::map<OpKind, double> const kRounded = {
    {OpKind::adamw, 2e-4}, {OpKind::lion, 4e-3}, {OpKind::sgd, 2e-4}};

class KernelUpdate : public ::testing::TestWithParam<UpdateTypes> {};
INSTANTIATE_TEST_SUITE_P(Types, KernelUpdate, ::testing::ValuesIn(test::update_types()),
                         [](auto const& info) { return info.param.text(); });

TEST_P(KernelUpdate, ten_steps_give_equal_bits_on_the_compute_and_the_host_lane) {
  Update u(GetParam());
  for (int step = 1; step <= 10; ++step) {
    u.begin_step(step);
    u.run();
    u.expect_same_on_both_lanes();
    u.h.keep_results();
  }
}

TEST_P(KernelUpdate, ten_steps_follow_the_formula_in_fp64) {
  Update u(GetParam(), {383, 37});
  // Moments in bf16 are rounded in every step; the reference's are not.
  double const bound = GetParam().moment == DType::bf16 ? kRounded.at(GetParam().kind) : 1e-7;
  auto references = u.references();
  for (int step = 1; step <= 10; ++step) {
    u.begin_step(step);
    u.run();
    for (std::size_t k = 0; k < references.size(); ++k) {
      auto const& p = u.chunk.parameters[k];
      references[k].step(u.h.contents(u.in(u.gradient, p)), Update::kScale, step);
      auto const now = u.masters(p, true);
      for (std::size_t i = 0; i < now.size(); ++i)
        ASSERT_NEAR(now[i], references[k].w[i], bound)
            << "step " << step << ", " << p.name << "[" << i << "]";
    }
    u.h.keep_results();
  }
}

// Slices begin with blocks of quantized states, and with pieces of the drive.
TEST_P(KernelUpdate, slices_give_the_bits_of_the_whole) {
  Update whole(GetParam()), cut = whole;
  for (int step = 1; step <= 3; ++step) {
    whole.begin_step(step);
    cut.begin_step(step);
    whole.run();
    std::int64_t const ends[] = {256, 1024, 9216, 9472, cut.chunk.elements};
    for (std::int64_t first = 0; auto const end : ends) {
      cut.set_op(std::exchange(first, end), end);
      cut.run();
      cut.expect_same_on_both_lanes();
      cut.h.keep_results();
    }
    for (auto const& output : whole.changed())
      EXPECT_EQ(whole.h.result_bytes(output), cut.h.result_bytes(output)) << step;
    whole.h.keep_results();
  }
}

TEST_P(KernelUpdate, gaps_between_parameters_are_never_touched) {
  Update u(GetParam());
  u.begin_step(1);
  u.run();
  auto const next = u.chunk.parameters[1].view.offset;
  for (auto const& tensor : u.changed()) {
    if (element_count(tensor.shape) != u.chunk.elements) continue;  // blocks have no gaps
    View const gap{tensor.tensor, 9001, {next - 9001}, {1}};
    for (auto const value : u.h.results(gap)) {
      EXPECT_TRUE(std::isnan(value) || value == -1 || value == 0xff) << "the poison is gone";
    }
  }
}

TEST_P(KernelUpdate, nothing_changes_when_the_step_is_not_committed) {
  Update u(GetParam());
  for (auto const go : {0.0, std::nan("")}) {
    u.begin_step(1);
    u.h.set(u.control, 0, go);
    std::vector<std::vector<double>> before, after;
    for (auto const& p : u.chunk.parameters)
      for (auto const& tensor : u.changed()) before.push_back(u.h.contents(u.in(tensor, p)));
    u.run();
    u.expect_same_on_both_lanes();
    for (auto const& p : u.chunk.parameters)
      for (auto const& tensor : u.changed()) after.push_back(u.h.results(u.in(tensor, p)));
    EXPECT_EQ(after, before) << go;
  }
}

// What a chunk's gradient is stored as decides norms, and no optimizer.
class SquareNorm : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Of, SquareNorm, ::testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

// The window of a parameter in a tensor of the chunk's size.
View in(View const& tensor, Parameter const& p) {
  return {tensor.tensor, p.view.offset, p.view.shape, p.view.strides};
}

TEST_P(SquareNorm, square_norm_is_exact_to_fp64_and_equal_on_both_lanes_and_all_threads) {
  KernelHarness h;
  auto const chunk = h.chunk({9001, 83, 1, 4096});
  auto const gradient = h.tensor(GetParam(), {chunk.elements});
  auto const norms = h.tensor(DType::f64, {3});
  View const norm{norms.tensor, 1, {1}, {1}};
  double expected = 0;
  for (auto const& p : chunk.parameters) {
    h.fill_normal(in(gradient, p), 1);
    if (p.view.offset == 0) h.set(in(gradient, p), 4096, 1e15);
    for (double const g : h.contents(in(gradient, p))) expected += g * g;
  }
  h.op(OpKind::square_norm, {gradient}, {norm}, UpdateRange{});
  for (int const threads : {1, 3}) {
    h.run(host::kernel(OpKind::square_norm), threads);
    h.expect_same_bytes(norms);
    EXPECT_NEAR(h.result(norm, 0), expected, 1e-14 * expected);
  }
}

TEST_P(SquareNorm, norms_of_slices_are_those_that_a_rank_with_its_slice_alone_finds) {
  constexpr std::int64_t kRanks = 3;
  KernelHarness h;
  auto const chunk = h.chunk({9001, 83, 1, 4096, 12345});
  auto const gradient = h.tensor(GetParam(), {chunk.elements});
  auto const norms = h.tensor(DType::f64, {kRanks}), alone = h.tensor(DType::f64, {1});
  for (auto const& p : chunk.parameters) h.fill_normal(in(gradient, p), 1);
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
TEST_P(SquareNorm, norms_of_what_ranks_keep_are_those_of_all_slices) {
  constexpr std::int64_t kRanks = 4;
  KernelHarness h;
  auto& chunk = h.chunk({9001, 83, 1, 4096, 12345});
  chunk.sharers = 2;
  h.graph().arithmetic.ranks = kRanks;
  Sharing const sharing{kRanks, chunk.sharers};
  auto const elements = chunk.elements, most = sharing.kept(elements, 0).count;
  auto const gradient = h.tensor(GetParam(), {elements});
  auto const kept = h.tensor(GetParam(), {most});
  auto const norms = h.tensor(DType::f64, {kRanks});
  for (auto const& p : chunk.parameters) h.fill_normal(in(gradient, p), 1);
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
TEST_P(SquareNorm, norms_of_ranks_without_a_slice_are_zero) {
  KernelHarness h;
  auto const chunk = h.chunk({100});
  auto const gradient = h.tensor(GetParam(), {chunk.elements});
  auto const norms = h.tensor(DType::f64, {3});
  h.set_all(in(gradient, chunk.parameters[0]), std::vector<double>(100, 2));
  h.set_all(norms, {7, 7, 7});
  h.op(OpKind::square_norm, {gradient}, {norms}, UpdateRange{});
  h.run(host::kernel(OpKind::square_norm));
  EXPECT_EQ(h.results(norms), (std::vector<double>{400, 0, 0}));
  EXPECT_EQ(h.serial_results(norms), (std::vector<double>{400, 0, 0}));
}

// Between two parameters, where the harness's poison is.
TEST_P(SquareNorm, the_norm_of_a_gap_is_zero) {
  KernelHarness h;
  auto const chunk = h.chunk({9001, 83});
  auto const gradient = h.tensor(GetParam(), {chunk.elements});
  auto const norm = h.tensor(DType::f64, {1});
  h.op(OpKind::square_norm, {View{gradient.tensor, 9001, {23}, {1}}}, {norm}, UpdateRange{9001});
  h.run(host::kernel(OpKind::square_norm));
  EXPECT_EQ(h.result(norm, 0), 0);
  EXPECT_EQ(h.serial_results(norm), std::vector<double>{0});
}

TEST_P(SquareNorm, the_norm_of_an_empty_slice_is_zero) {
  KernelHarness h;
  auto const elements = h.chunk({100}).elements;
  auto const gradient = h.tensor(GetParam(), {elements});
  auto const norm = h.tensor(DType::f64, {1});
  h.op(OpKind::square_norm, {View{gradient.tensor, elements, {0}, {1}}}, {norm},
       UpdateRange{elements});
  h.run(host::kernel(OpKind::square_norm));
  h.expect_same_bytes(norm);
  EXPECT_EQ(h.result(norm, 0), 0);
}

}  // namespace
}  // namespace spillway::kernels_update_test
