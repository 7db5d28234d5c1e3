// What kernels say of ops and threads that they do not offer: whole lines.
#include <gtest/gtest.h>

#include "base/cannot_start.hpp"
#include "base/error.hpp"
#include "kernels/formulas/relative_bias.hpp"
#include "kernels/formulas/rope.hpp"
#include "kernels/host/product.hpp"
#include "kernels/host/team/team.hpp"
#include "kernels/host_pool.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/kernels/attention_case.hpp"
#include "tests/unit/kernels/every_case.hpp"

namespace spillway::kernels_refusals_test {
namespace {

using test::AttentionCase;

struct Has {
  bool segments_q = false, segments_k = false, samples = false, positions = false;
};

// Of an attention with these attributes and operands, forward and backward.
std::vector<std::string> lines_of(AttentionAttributes const& a, Has const& has = {}) {
  AttentionCase c(a, DType::f32);
  auto const some = [&](bool is_there, DType dtype, std::int64_t elements) {
    return is_there ? c.h.tensor(dtype, {elements}) : View{};
  };
  auto const of_q = some(has.segments_q, DType::i32, a.batch * a.queries);
  auto const of_k = some(has.segments_k, DType::i32, a.batch * a.keys);
  auto const samples = some(has.samples, DType::i64, a.batch);
  auto const positions = some(has.positions, DType::i32, a.batch * a.queries);
  std::vector<std::string> lines;
  auto const bind = [&](Kernel const& kernel) {
    c.h.op().name = "h.3/attention";
    lines.push_back(test::refused_with([&] { kernel.bind(c.h.context(), c.h.op()); }));
  };
  c.h.op(OpKind::attention, {c.q, c.k, c.v, of_q, of_k, {}, samples, positions}, {c.o, c.lse}, a);
  bind(host::kernel(OpKind::attention));
  if (has.positions) return lines;
  c.h.op(OpKind::attention_backward, {c.q, c.k, c.v, c.o, c.lse, c.d_o, of_q, of_k, {}, samples},
         {c.dq, c.dk, c.dv, {}}, a);
  bind(host::kernel(OpKind::attention_backward));
  return lines;
}

TEST(RefusedAttention, is_named_with_what_it_has) {
  AttentionAttributes const sound = {.batch = 2,
                                     .queries = 8,
                                     .keys = 8,
                                     .heads = 2,
                                     .kv_heads = 1,
                                     .head_size = 4,
                                     .causal = true,
                                     .scale = 0.5,
                                     .tile = 32};
  using Lines = std::vector<std::string>;
  auto const both = [](std::string const& what) {
    return Lines(2, "h.3/attention: attention with " + what + " is not offered");
  };
  EXPECT_EQ(lines_of(sound), Lines(2));
  EXPECT_EQ(lines_of(sound, {.segments_q = true, .segments_k = true, .samples = true}), Lines(2));
  EXPECT_EQ(lines_of(sound, {.segments_q = true}), both("segments of queries alone, or of keys"));
  EXPECT_EQ(lines_of(sound, {.segments_k = true}), both("segments of queries alone, or of keys"));
  EXPECT_EQ(lines_of(sound, {.positions = true}),
            Lines{both("positions of several sequences").front()});
  auto unequal = sound;
  unequal.queries = 5;
  std::string const mask = "a causal mask or a window over unequal numbers of queries and keys";
  EXPECT_EQ(lines_of(unequal), both(mask));
  unequal.causal = false;
  EXPECT_EQ(lines_of(unequal), Lines(2));
  unequal.window = 3;
  EXPECT_EQ(lines_of(unequal), both(mask));
  unequal.batch = 1;
  EXPECT_EQ(lines_of(unequal, {.positions = true}), Lines(1));
  auto dropping = sound;
  dropping.dropout = 0.25;
  EXPECT_EQ(lines_of(dropping), both("dropout and no numbers of samples"));
  EXPECT_EQ(lines_of(dropping, {.samples = true}), Lines(2));
  for (auto const& [share, text] : {std::pair(1.0, "1"), std::pair(-0.5, "-0.5")}) {
    dropping.dropout = share;
    EXPECT_EQ(lines_of(dropping, {.samples = true}),
              both("dropout of " + std::string(text) + " of all"));
  }
}

TEST(RefusedRope, is_named_with_what_is_wrong) {
  auto const line = [](RopeAttributes const& attributes) {
    Op op;
    op.name = "h.0/rope";
    op.attributes = attributes;
    return test::refused_with([&] { rope_frequencies(op); });
  };
  std::string const place = "h.0/rope: rotary positions with ";
  for (auto const& [size, text] : {std::pair(0, "0"), std::pair(7, "7"), std::pair(258, "258")})
    EXPECT_EQ(line({.head_size = size}),
              place + "heads of " + text + " columns: there must be an even number, at most 256");
  EXPECT_EQ(line({.head_size = 8, .theta = -2}), place + "theta -2: it must be positive");
  EXPECT_EQ(line({.head_size = 8, .scaling = RopeScaling::linear, .factor = 0}),
            place + "factor 0: it must be positive");
  EXPECT_EQ(line({.head_size = 8, .scaling = RopeScaling::llama3, .factor = -1}),
            place + "factor -1: it must be positive");
  EXPECT_EQ(line({.head_size = 8, .factor = 0}), "") << "nothing is divided by it";
  auto const waves = [&](double low, double high) {
    return line({.head_size = 8,
                 .scaling = RopeScaling::llama3,
                 .factor = 2,
                 .low_freq_factor = low,
                 .high_freq_factor = high});
  };
  EXPECT_EQ(waves(4, 4),
            place + "low_freq_factor 4 and high_freq_factor 4: the second must be larger");
  EXPECT_EQ(waves(0, 3),
            place + "low_freq_factor 0 and high_freq_factor 3: the second must be larger");
  EXPECT_EQ(waves(1, 3), "");
}

TEST(RefusedBuckets, are_named_with_their_distances) {
  auto const line = [](std::int64_t buckets, std::int64_t most, bool bidirectional) {
    Op op;
    op.name = "bias";
    op.attributes = RelativeBiasAttributes{5, most, bidirectional};
    return test::refused_with([&] { relative_buckets(op, buckets); });
  };
  std::string const rest =
      ": there must be two of each direction, and distances beyond their first half";
  EXPECT_EQ(line(3, 128, true), "bias: 3 buckets of distances up to 128" + rest);
  EXPECT_EQ(line(4, 128, true), "");
  EXPECT_EQ(line(1, 128, false), "bias: 1 buckets of distances up to 128" + rest);
  EXPECT_EQ(line(2, 128, false), "");
  EXPECT_EQ(line(32, 8, true), "bias: 32 buckets of distances up to 8" + rest);
  EXPECT_EQ(line(32, 9, true), "");
  EXPECT_EQ(line(32, 16, false), "bias: 32 buckets of distances up to 16" + rest);
  EXPECT_EQ(line(32, 17, false), "");
}

// Kernels that number elements straight through would read and write others where these lie apart.
TEST(RefusedGaps, are_named_with_the_kind) {
  test::KernelHarness h;
  std::vector<std::string_view> let_through;
  for (auto const& each : test::every_case(h)) {
    auto outputs = each.outputs;
    outputs.back().strides.back() *= 2;
    auto const why = test::mistake([&] {
      h.op(each.kind, each.inputs, outputs, each.attributes, each.in_place);
      host::kernel(each.kind).bind(h.context(), h.op());
    });
    if (why.empty()) let_through.push_back(name(each.kind));
    EXPECT_TRUE(why.empty() || why == "an operand: its columns lie apart" ||
                why.starts_with(std::string(name(each.kind)) + ": "))
        << why;
  }
  EXPECT_EQ(let_through,
            (std::vector<std::string_view>{"select_row", "column_sum", "square_norm", "adamw",
                                           "adamw_8bit", "lion", "sgd", "adafactor", "muon"}));
}

TEST(RefusedThreads, are_named_with_what_limits_them) {
  auto const line = [](TeamLimiter by, std::int64_t threads) {
    return test::refused_with([&] { require_within({4, by}, threads); });
  };
  EXPECT_EQ(line(TeamLimiter::kokkos, 4), "");
  EXPECT_EQ(line(TeamLimiter::kokkos, 5),
            "run.threads: 5 asked for, but Kokkos allows 4: give run.threads=4");
  EXPECT_EQ(line(TeamLimiter::thread_limit, 5),
            "run.threads: 5 asked for, but OMP_THREAD_LIMIT allows 4: raise or unset it, or give "
            "run.threads=4");
  EXPECT_EQ(line(TeamLimiter::active_levels, 6),
            "run.threads: 6 asked for, but OMP_MAX_ACTIVE_LEVELS allows 4: raise or unset it, or "
            "give run.threads=4");
  EXPECT_EQ(name(TeamLimiter::none), "nothing");
  EXPECT_EQ(test::refused_with([] { require_whole_team(3, 3); }), "");
  EXPECT_EQ(test::refused_with([] { require_whole_team(2, 3); }, Status::device),
            "OpenMP has 2 threads work together where 3 were asked for: parts of products would be "
            "missing");
  auto const error = cannot_start(
      "run.host_threads", 2, 7,
      std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)));
  EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_STREQ(
      error.what(),
      "run.host_threads: only 2 of 7 threads can be started: Resource temporarily "
      "unavailable; raise the limit (ulimit -u, or pids.max of the job's control group) or "
      "give fewer");
}

}  // namespace
}  // namespace spillway::kernels_refusals_test
