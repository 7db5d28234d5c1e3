// Small parts of kernels by themselves: streamed rows, partitions, weights of a softmax, the ranges
// of an update, sizes of workspaces for a device that may not be here.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "graph/operands.hpp"
#include "kernels/exec.hpp"
#include "kernels/formulas/fast_math.hpp"
#include "kernels/formulas/parameter_ranges.hpp"
#include "kernels/host/stream.hpp"
#include "kernels/host/workspaces.hpp"
#include "kernels/host_pool.hpp"
#include "kernels/portable/partitions.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_parts_test {
namespace {

using test::KernelHarness;

// Up to a line that is not aligned, whole vectors, and what is left.
TEST(StreamedRows, have_every_element_wherever_they_begin_and_end) {
  std::vector<float> from(128);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
  alignas(64) float to[128];
  for (std::int64_t begin = 0; begin < 17; ++begin)
    for (std::int64_t n = 0; n < 70; ++n) {
      std::fill(std::begin(to), std::end(to), -1.0f);
      stream_row(from.data() + n % 5, to + begin, n);
      finish_streams();
      for (std::int64_t i = 0; i < 128; ++i) {
        bool const is_inside = i >= begin && i < begin + n;
        ASSERT_EQ(to[i], is_inside ? static_cast<float>(i - begin + n % 5 + 1) : -1.0f)
            << begin << " " << n << " " << i;
      }
    }
}

// They decide the order of sums: with others, old runs would not go on with their bits.
TEST(PartitionsOfRows, are_of_32_or_at_most_256) {
  struct Case {
    std::int64_t rows, each, count;
  };
  for (auto const& [rows, each, count] :
       {Case{1, 32, 1}, Case{32, 32, 1}, Case{33, 32, 2}, Case{8192, 32, 256}, Case{8193, 33, 249},
        Case{100'000, 391, 256}}) {
    auto const cut = host::Partitions::of(rows);
    EXPECT_EQ(cut.rows, rows);
    EXPECT_EQ(cut.rows_each, each) << rows;
    EXPECT_EQ(cut.count, count) << rows;
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < cut.count; ++i) {
      EXPECT_EQ(cut.first(i), next);
      next = cut.last(i);
      EXPECT_EQ(next - cut.first(i), i + 1 < cut.count ? each : rows - (count - 1) * each);
    }
    EXPECT_EQ(next, rows);
  }
}

TEST(WeightExp2, errs_by_at_most_two_ulp_and_is_zero_far_below) {
  double worst_ulp = 0;
  for (float x = -125.9f; x < 127.9f; x += 1.7e-3f) {
    double const exact = std::exp2(static_cast<double>(x));
    auto const nearest = static_cast<float>(exact);
    double const ulp = std::nextafter(nearest, std::numeric_limits<float>::infinity()) - nearest;
    worst_ulp = std::max(worst_ulp, std::abs(weight_exp2(x) - exact) / ulp);
  }
  EXPECT_LE(worst_ulp, 2);
  EXPECT_EQ(weight_exp2(0), 1);
  EXPECT_EQ(weight_exp2(-7), 0x1p-7f);
  for (float const x : {-127.5f, -1000.0f, -1e30f, -std::numeric_limits<float>::infinity()})
    EXPECT_EQ(weight_exp2(x), 0) << x;
  EXPECT_TRUE(std::isnan(weight_exp2(std::numeric_limits<float>::quiet_NaN())));
}

TEST(FastSigmoid, is_the_textbooks_and_zero_far_below) {
  double worst = 0;  // relative
  for (float x = -88; x < 120; x += 0.013f) {
    double const exact = 1 / (1 + std::exp(-static_cast<double>(x)));
    worst = std::max(worst, std::abs(fast_sigmoid(x) - exact) / exact);
  }
  EXPECT_LT(worst, 3e-7);
  EXPECT_EQ(fast_sigmoid(0), 0.5f);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fast_sigmoid(infinity), 1);
  for (float const x : {-88.5f, -1e4f, -infinity}) EXPECT_LT(fast_sigmoid(x), 1e-38) << x;
}

TEST(Exec, has_the_pool_that_it_was_given_or_the_threads_of_its_space) {
  HostPool pool(2);
  EXPECT_EQ(Exec().host_pool(), nullptr);
  EXPECT_EQ(Exec().concurrency(), 1);
  EXPECT_EQ(Exec(pool).host_pool(), &pool);
  auto const of_host = host::make_exec(nullptr);
  EXPECT_EQ(of_host->host_pool(), nullptr);
  EXPECT_EQ(of_host->concurrency(), Kokkos::DefaultHostExecutionSpace().concurrency());
  int stream = 0;
  EXPECT_THROW(host::make_exec(&stream), std::logic_error);
}

TEST(ParameterRanges, are_what_a_slice_has_of_each_parameter) {
  KernelHarness h;
  auto& chunk = h.chunk({100, 83, 1});
  chunk.parameters[0].decay = chunk.parameters[2].decay = false;
  chunk.parameters[1].decay = true;
  std::int64_t const at[] = {chunk.parameters[0].view.offset, chunk.parameters[1].view.offset,
                             chunk.parameters[2].view.offset};
  auto const ranges = [&](std::int64_t first, std::int64_t past) {
    auto const gradient = h.tensor(DType::f32, {past - first});
    h.op(OpKind::square_norm, {gradient}, {}, UpdateRange{first});
    std::vector<std::tuple<std::int64_t, std::int64_t, bool>> found;
    for (auto const& range : parameter_ranges(h.context(), h.op(), UpdateRange{first}))
      found.emplace_back(range.offset, range.count, range.decay);
    return found;
  };
  using Ranges = std::vector<std::tuple<std::int64_t, std::int64_t, bool>>;
  EXPECT_EQ(ranges(0, at[2] + 1), (Ranges{{0, 100, false}, {at[1], 83, true}, {at[2], 1, false}}));
  EXPECT_EQ(ranges(90, at[1] + 7), (Ranges{{0, 10, false}, {at[1] - 90, 7, true}}));
  EXPECT_EQ(ranges(at[1] + 5, at[2] + 1), (Ranges{{0, 78, true}, {at[2] - at[1] - 5, 1, false}}));
  EXPECT_EQ(ranges(100, at[1]), Ranges{}) << "a gap";
}

// Algorithm 2 of FlashAttention-2 has a number for each row, a bias' gradient sums for each tile.
TEST(WorkspacesOfADevice, of_attention_have_rows_and_what_a_bias_sums) {
  AttentionAttributes a = {
      .batch = 2, .queries = 65, .keys = 70, .heads = 3, .kv_heads = 3, .head_size = 8};
  KernelHarness h;
  auto const f32 = [&](Shape shape) { return h.tensor(DType::f32, std::move(shape)); };
  auto const q = f32({130, 24}), k = f32({140, 24}), v = f32({140, 24}), o = f32({130, 24}),
             lse = f32({2, 3, 65}), bias = f32({3, 134});
  auto const bytes = [&](View const& d_bias) {
    h.op(OpKind::attention_backward, {q, k, v, o, lse, o, {}, {}, bias, {}}, {q, k, v, d_bias}, a);
    return cuda_workspace_bytes(90, h.context(), h.op());
  };
  std::int64_t const of_rows = round_up<std::int64_t>(2 * 3 * 65 * 4, 256);
  EXPECT_EQ(bytes({}), of_rows);
  EXPECT_EQ(bytes(bias), of_rows + std::int64_t{2} * 3 * 2 * (64 + 70) * 4);
  a.head_size = 129;  // whose rows in fp32 leave room for tiles of 32 queries
  EXPECT_EQ(bytes(bias), of_rows + std::int64_t{2} * 3 * 3 * (32 + 70) * 4);
  h.op(OpKind::attention, {q, k, v, {}, {}, {}, {}, {}}, {o, lse}, a);
  EXPECT_EQ(cuda_workspace_bytes(90, h.context(), h.op()), 0);
}

TEST(WorkspacesOfADevice, of_a_head_with_a_bias_have_its_sums_of_every_portion) {
  KernelHarness h;
  auto const bytes = [&](OpKind kind, DType type, bool has_bias) {
    auto const x = h.tensor(type, {50, 8}), w = h.tensor(type, {70, 8});
    auto const b = has_bias ? h.tensor(type, {70}) : View{};
    auto const targets = h.tensor(DType::i32, {50}), weights = h.tensor(DType::f32, {50});
    auto const losses = h.tensor(DType::f32, {50}), loss = h.tensor(DType::f64, {2});
    bool const is_backward = kind == OpKind::lm_head_loss_backward;
    h.op(kind, {x, w, targets, weights, b},
         is_backward ? std::vector<View>{losses, loss, x, w, b} : std::vector<View>{losses, loss},
         LmHeadAttributes{.chunk = 16});
    return cuda_workspace_bytes(80, h.context(), h.op()) - (std::int64_t{4} << 20);
  };
  auto const aligned = [](std::int64_t n) { return round_up<std::int64_t>(n, 256); };
  std::int64_t const logits = 16 * 128;  // of a portion, in rows of whole lines
  using enum OpKind;
  EXPECT_EQ(bytes(lm_head_loss, DType::f32, true), aligned(4 * logits));
  EXPECT_EQ(bytes(lm_head_loss_backward, DType::f32, false), aligned(4 * logits));
  EXPECT_EQ(bytes(lm_head_loss_backward, DType::f32, true),
            aligned(4 * logits) + aligned(std::int64_t{4} * 70 * 4));
  EXPECT_EQ(bytes(lm_head_loss_backward, DType::bf16, true),
            aligned(4 * logits) + aligned(2 * logits) + aligned(std::int64_t{70} * 8 * 4) +
                aligned(std::int64_t{4} * 70 * 4));
}

// Partial sums of every 32 rows, lists of rows and entries, a number of a norm's tile.
TEST(WorkspacesOfReductions, are_of_their_partial_sums_on_every_target) {
  KernelHarness h;
  auto const f32 = [&](Shape shape) { return h.tensor(DType::f32, std::move(shape)); };
  auto const expect = [&](OpKind kind, std::int64_t bytes) {
    EXPECT_EQ(host::kernel(kind).workspace_bytes(h.context(), h.op()), bytes) << name(kind);
    EXPECT_EQ(cuda_workspace_bytes(80, h.context(), h.op()), bytes) << name(kind);
  };
  auto const x = f32({100, 21}), sums = f32({21}), of_rows = f32({100});
  h.op(OpKind::column_sum, {x}, {sums});
  expect(OpKind::column_sum, 4 * 21 * 4);
  h.op(OpKind::layernorm_backward, {x, x, sums, of_rows, of_rows, {}}, {x, sums, sums});
  expect(OpKind::layernorm_backward, 4 * 2 * 21 * 4);
  auto const gamma = f32({7}), of_heads = f32({100, 3});
  h.op(OpKind::rmsnorm_backward, {x, x, gamma, of_heads, {}}, {x, gamma});
  expect(OpKind::rmsnorm_backward, 10 * 7 * 4);
  auto const tokens = h.tensor(DType::i32, {100});
  struct Tables {
    std::int64_t words, places, kinds, longest;
  };
  for (auto const& [words, places, kinds, longest] :
       {Tables{300, 40, 3, 300}, Tables{30, 40, 3, 40}, Tables{30, 40, 50, 50}}) {
    h.op(OpKind::embed_backward, {tokens, x, tokens, tokens},
         {f32({words, 21}), f32({places, 21}), f32({kinds, 21})}, EmbedAttributes{50});
    expect(OpKind::embed_backward, (longest + 100) * 4);
  }
  auto const norm = h.tensor(DType::f64, {1});
  for (auto const& [elements, bytes] : {std::pair{0, 8}, {4096, 8}, {4097, 16}, {8193, 24}}) {
    h.op(OpKind::square_norm, {f32({elements})}, {norm}, UpdateRange{});
    expect(OpKind::square_norm, bytes);
  }
}

// Sizes alone: nothing of these is ever held.
TEST(WorkspacesOfADevice, are_counted_beyond_32_bits) {
  std::vector<Tensor> tensors;
  auto const f32 = [&](Shape shape) {
    Tensor tensor;
    tensor.id = static_cast<TensorId>(tensors.size());
    tensor.shape = std::move(shape);
    tensors.push_back(tensor);
    return whole(tensor);
  };
  Arithmetic const arithmetic;
  auto const bytes = [&](Op const& op) {
    return cuda_workspace_bytes(80, {tensors, {}, arithmetic}, op);
  };
  Op head;
  set_operands(head, Operands<OpKind::lm_head_loss>{.x = f32({8192, 8}),
                                                    .w = f32({1 << 20, 8}),
                                                    .targets = {},
                                                    .weights = {},
                                                    .losses = {},
                                                    .loss = {}});
  head.attributes = LmHeadAttributes{.chunk = 8192};
  EXPECT_EQ(bytes(head), (std::int64_t{1} << 35) + (4 << 20));
  Op attention;
  Operands<OpKind::attention_backward> operands{};
  set_operands(attention, operands);
  attention.attributes = AttentionAttributes{
      .batch = 64, .queries = 1 << 20, .keys = 1 << 20, .heads = 64, .kv_heads = 64};
  EXPECT_EQ(bytes(attention), std::int64_t{1} << 34);
  operands.ddistance_bias = f32({1, 1});
  set_operands(attention, operands);
  EXPECT_EQ(bytes(attention), (std::int64_t{1} << 48) + (std::int64_t{1} << 35));
}

}  // namespace
}  // namespace spillway::kernels_parts_test
