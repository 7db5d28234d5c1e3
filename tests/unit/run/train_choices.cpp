// What `auto` becomes: threads and micro-batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/affinity.hpp"
#include "base/error.hpp"
#include "job/cores.hpp"
#include "kernels/host/product.hpp"
#include "run/prepare.hpp"
#include "samples/batch_shape.hpp"

namespace spillway::train_choices_test {
namespace {

Config config(std::int64_t sequences, std::int64_t sequence) {
  Config result;
  result.batch.sequences = sequences;
  result.data.sequence = sequence;
  return result;
}

TEST(Choices, fill_a_micro_batch_with_rows_but_take_no_more_than_a_rank_s_share) {
  auto const micro = [](std::int64_t sequences, std::int64_t sequence, std::int64_t ranks) {
    return choose(config(sequences, sequence), nullptr, 4, ranks).micro;
  };
  EXPECT_EQ(micro(1000, 512, 1), kMicroRows / 512);
  EXPECT_EQ(micro(1000, 3 * kMicroRows, 1), 1);
  EXPECT_EQ(micro(6, 64, 1), 6);
  EXPECT_EQ(micro(6, 64, 4), 2);  // of 6 sequences, a rank gets 2 at most
  EXPECT_EQ(micro(1, 64, 4), 1);
}

TEST(Choices, prefer_a_micro_batch_that_leaves_few_rows_empty) {
  EXPECT_EQ(fullest_micro({32}, 1, 12), 8);  // 12 would run 36
  EXPECT_EQ(fullest_micro({16}, 3, 4), 3);   // 18 rows; 4 would run 24
  EXPECT_EQ(fullest_micro({17}, 1, 4), 3);   // 18, not half as long as 1 to have 17
  EXPECT_EQ(fullest_micro({16}, 2, 4), 4);
  EXPECT_EQ(fullest_micro({6}, 4, 2), 2);  // as full as 1, and larger
  EXPECT_EQ(choose(config(32, kMicroRows / 12), nullptr, 4, 1).micro, 8);
}

// In micro-batches of 4 the slow rank would run two of five, and the fast one would wait.
TEST(Choices, prefer_a_micro_batch_with_which_ranks_have_their_shares) {
  EXPECT_EQ(fullest_micro({18, {}, {2, 1}}, 2, 4), 3);
  EXPECT_EQ(fullest_micro({18, {}, {1, 1}}, 2, 4), 3);
  EXPECT_EQ(fullest_micro({16, {}, {1, 1}}, 2, 4), 4);
}

TEST(Choices, give_every_rank_a_micro_batch_where_shares_are_a_list) {
  auto shared = config(5, 64);
  shared.batch.share = {1, 1, 1, 1};
  EXPECT_EQ(choose(shared, nullptr, 4, 4).micro, 1);  // of pairs there are three
  shared.batch.sequences = 7;
  EXPECT_EQ(choose(shared, nullptr, 4, 4).micro, 2);
}

TEST(Choices, refuse_shares_that_ranks_cannot_have) {
  auto shared = config(4, 64);
  shared.batch.share = {2, 1};
  auto const why = [&](std::int64_t ranks) {
    return test::refused_with([&] { choose(shared, nullptr, 4, ranks); }, Status::bad_input);
  };
  EXPECT_EQ(why(3), "batch.share: a list of 2 for 3 ranks");
  EXPECT_EQ(why(1), "batch.share: a list of 2 for 1 rank");
  shared.batch.micro = 4;
  EXPECT_EQ(why(2),
            "batch.share: 1 micro-batch of 4 sequences for 2 ranks; give a smaller batch.micro or "
            "more batch.sequences");
  shared.batch.micro = 2;
  EXPECT_EQ(choose(shared, nullptr, 4, 2).micro, 2);
}

TEST(EmptyRows, are_told_with_their_share_and_what_would_leave_fewer) {
  EXPECT_EQ(describe_empty_rows({16, 4, 0, 2}), "");
  EXPECT_EQ(describe_empty_rows({16, 4, 0, 3}),
            "8 of 24 rows (33 %) of a step are empty, as 16 sequences do not part into "
            "micro-batches of 4 on 3 ranks; batch.micro=3 leaves 2 of 18 rows (11 %)\n");
  EXPECT_EQ(describe_empty_rows({6, 4, 0, 1}),
            "2 of 8 rows (25 %) of a step are empty, as 6 sequences do not part into "
            "micro-batches of 4 on 1 rank; batch.micro=3 leaves none\n");
  EXPECT_DOUBLE_EQ((BatchShape{16, 4, 0, 3}.filled()), 2.0 / 3);
}

TEST(Choices, give_a_rank_its_share_of_the_cores_and_never_none) {
  EXPECT_EQ(choose(config(8, 64), nullptr, 6, 1).threads, 6);
  EXPECT_EQ(choose(config(8, 64), nullptr, 0, 8).threads, 1);
}

TEST(Choices, of_a_checkpoint_win_over_auto_and_the_user_over_both) {
  Arithmetic checkpoint;
  checkpoint.threads = 3;
  checkpoint.micro = 5;
  auto user = config(64, 64);
  EXPECT_EQ(choose(user, &checkpoint, 8, 1).threads, 3);
  EXPECT_EQ(choose(user, &checkpoint, 8, 1).micro, 5);
  user.run.threads = 2;
  user.batch.micro = 7;
  EXPECT_EQ(choose(user, &checkpoint, 8, 1).threads, 2);
  EXPECT_EQ(choose(user, &checkpoint, 8, 1).micro, 7);
  EXPECT_TRUE(choose(config(8, 64), nullptr, 8, 1).micro_is_free);
  EXPECT_FALSE(choose(config(8, 64), &checkpoint, 8, 1).micro_is_free);
  EXPECT_FALSE(choose(user, nullptr, 8, 1).micro_is_free);
}

TEST(Choices, of_an_mlp_s_rows_are_free_where_sequences_are_long_and_nobody_has_chosen) {
  EXPECT_FALSE(choose(config(8, kLongSequence - 1), nullptr, 8, 1).mlp_is_free);
  auto user = config(8, kLongSequence);
  EXPECT_TRUE(choose(user, nullptr, 8, 1).mlp_is_free);
  EXPECT_EQ(choose(user, nullptr, 8, 1).mlp_chunk, 0);
  Arithmetic checkpoint;
  checkpoint.mlp_chunk = 100;
  EXPECT_FALSE(choose(user, &checkpoint, 8, 1).mlp_is_free);
  EXPECT_EQ(choose(user, &checkpoint, 8, 1).mlp_chunk, 100);
  user.batch.mlp_chunk = 0;
  EXPECT_FALSE(choose(user, nullptr, 8, 1).mlp_is_free);
  EXPECT_EQ(choose(user, &checkpoint, 8, 1).mlp_chunk, 0);
  user.batch.mlp_chunk = 64;
  EXPECT_EQ(make_arithmetic(user, choose(user, nullptr, 8, 1), 1).mlp_chunk, 64);
}

TEST(Choices, that_need_less_memory_are_smaller_micro_batches_and_then_mlps_by_tiles) {
  Choices choices{.micro = 3, .micro_is_free = true, .mlp_is_free = true};
  choices = with_less_memory(choices).value();
  EXPECT_EQ(choices.micro, 1);
  EXPECT_EQ(choices.mlp_chunk, 0);
  choices = with_less_memory(choices).value();
  EXPECT_EQ(choices.micro, 1);
  EXPECT_EQ(choices.mlp_chunk, kMlpRows);
  EXPECT_FALSE(with_less_memory(choices));
  EXPECT_FALSE(with_less_memory({.micro = 4}));
}

TEST(Arithmetic, has_the_kernels_that_were_asked_for) {
  auto user = config(8, 64);
  EXPECT_EQ(make_arithmetic(user, {}, 1).isa, host::matmul_isa());
  user.debug.kernels = KernelSet::portable;
  EXPECT_TRUE(host::is_portable(make_arithmetic(user, {}, 1)));
  EXPECT_FALSE(
      describe_difference(make_arithmetic(config(8, 64), {}, 1), make_arithmetic(user, {}, 1))
          .empty());
}

// Checkpoints keep these words, and a run that goes on is told where they differ.
TEST(Arithmetic, is_written_in_the_words_of_the_keys) {
  auto user = config(8, 64);
  user.debug.kernels = KernelSet::portable;
  auto written = [&](Precision precision) {
    user.precision = precision;
    auto arithmetic = make_arithmetic(user, {3, 2}, 4);
    arithmetic.build = "a build";
    return to_json(arithmetic);
  };
  auto const text = [](std::string const& precision) {
    return R"({"attention_tile":256,"build":"a build","gradients":"fp32","isa":"portable",)"
           R"("loss_chunk":512,"micro":2,"moments":"fp32","precision":")" +
           precision + R"(","ranks":4,"reduction":"last","sequence":64,"threads":3})";
  };
  EXPECT_EQ(written(Precision::fp32), text("fp32"));
  EXPECT_EQ(written(Precision::bf16), text("bf16"));
}

TEST(Arithmetic, names_the_target_of_kernels_on_a_device_whatever_this_host_has) {
  auto user = config(8, 64);
  EXPECT_EQ(make_arithmetic(user, {}, 1, "sm_90").isa, "sm_90");
  user.debug.kernels = KernelSet::portable;
  EXPECT_EQ(make_arithmetic(user, {}, 1, "sm_90").isa, "sm_90");
}

TEST(Choices, of_threads_keep_to_what_OpenMP_allows) {
  TeamLimit const limit{2, TeamLimiter::thread_limit};
  EXPECT_EQ(choose(config(8, 64), nullptr, 6, 1, limit).threads, 2);
  Arithmetic checkpoint;
  checkpoint.threads = 3;
  EXPECT_EQ(choose(config(8, 64), &checkpoint, 6, 1, limit).threads, 2);
  auto user = config(8, 64);
  user.run.threads = 2;
  EXPECT_EQ(choose(user, nullptr, 6, 1, limit).threads, 2);
  user.run.threads = 3;
  try {
    choose(user, nullptr, 6, 1, limit);
    ADD_FAILURE() << "more than allowed";
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_STREQ(error.what(),
                 "run.threads: 3 asked for, but OMP_THREAD_LIMIT allows 2: raise or "
                 "unset it, or give run.threads=2");
  }
}

CoreShare share(char const* host, std::uint64_t mask, std::int64_t cores) {
  CoreShare share;
  std::copy_n(host, std::string_view(host).size(), share.host.begin());
  share.mask[0] = mask;
  share.cores = cores;
  return share;
}

TEST(Cores, are_divided_only_among_ranks_of_a_host_that_share_them) {
  std::vector<CoreShare> const unbound = {share("a", 0xff, 8), share("a", 0xff, 8),
                                          share("b", 0xff, 8)};
  EXPECT_EQ(own_cores(unbound, 0), 4);
  EXPECT_EQ(own_cores(unbound, 2), 8);
  std::vector<CoreShare> const bound = {share("a", 0x0f, 4), share("a", 0xf0, 4)};
  EXPECT_EQ(own_cores(bound, 0), 4);
  EXPECT_EQ(own_cores(bound, 1), 4);
  std::vector<CoreShare> const crowded = {share("a", 1, 1), share("a", 1, 1)};
  EXPECT_EQ(own_cores(crowded, 1), 1);
}

TEST(Cores, that_ranks_share_are_parted_among_neighbours) {
  std::vector<int> const near = {0, 4, 1, 5, 2, 6, 3, 7};  // hardware threads side by side
  std::vector<CoreShare> const unbound = {share("a", 0xff, 8), share("b", 0xff, 8),
                                          share("a", 0xff, 8), share("a", 0xff, 8)};
  EXPECT_EQ(exclusive_cores(unbound, 0, near), (std::vector{0, 4}));
  EXPECT_EQ(exclusive_cores(unbound, 2, near), (std::vector{1, 5}));
  EXPECT_EQ(exclusive_cores(unbound, 3, near), (std::vector{2, 6}));
  EXPECT_EQ(exclusive_cores(unbound, 1, near), std::vector<int>{}) << "alone on its host";
  std::vector<CoreShare> const bound = {share("a", 0x0f, 4), share("a", 0xf0, 4)};
  EXPECT_EQ(exclusive_cores(bound, 0, std::vector{0, 1, 2, 3}), std::vector<int>{});
  std::vector<CoreShare> const quota = {share("a", 0xff, 3), share("a", 0xff, 3)};
  EXPECT_EQ(exclusive_cores(quota, 0, near), std::vector<int>{});
  std::vector<CoreShare> const crowded = {share("a", 1, 1), share("a", 1, 1)};
  EXPECT_EQ(exclusive_cores(crowded, 0, std::vector{0}), std::vector<int>{});
}

TEST(Cores, of_a_thread_are_those_that_it_stays_on) {
  auto const all = cores_by_place();
  ASSERT_FALSE(all.empty());
  std::thread([&] {
    stay_on(std::span(all).last(1));
    EXPECT_EQ(cores_by_place(), std::vector{all.back()});
  }).join();
  EXPECT_EQ(cores_by_place(), all);
}

TEST(NarrowSums, are_warned_of_where_micro_batches_are_many) {
  OptimConfig optim;
  EXPECT_EQ(warning_of_narrow_sums(optim, 1000), "");
  optim.gradients = Precision::bf16;
  EXPECT_EQ(warning_of_narrow_sums(optim, kNarrowSums), "");
  auto const warning = warning_of_narrow_sums(optim, 65);
  EXPECT_EQ(warning.find("optim.gradients: bf16: sums over 65 micro-batches"), 0u) << warning;
}

}  // namespace
}  // namespace spillway::train_choices_test
