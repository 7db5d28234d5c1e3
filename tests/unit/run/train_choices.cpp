// What `auto` becomes: threads, micro-batch and budgets.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "job/cores.hpp"
#include "kernels/product.hpp"
#include "run/existing_memory.hpp"
#include "run/plan_run.hpp"
#include "run/prepare.hpp"
#include "samples/batches.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

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
  EXPECT_EQ(fullest_micro(32, 1, 12), 8);  // 12 would run 36
  EXPECT_EQ(fullest_micro(16, 3, 4), 3);   // 18 rows; 4 would run 24
  EXPECT_EQ(fullest_micro(17, 1, 4), 3);   // 18, not half as long as 1 to have 17
  EXPECT_EQ(fullest_micro(16, 2, 4), 4);
  EXPECT_EQ(fullest_micro(6, 4, 2), 2);  // as full as 1, and larger
  EXPECT_EQ(choose(config(32, kMicroRows / 12), nullptr, 4, 1).micro, 8);
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
}

TEST(Arithmetic, has_the_kernels_that_were_asked_for) {
  auto user = config(8, 64);
  EXPECT_EQ(make_arithmetic(user, {}, 1).isa, matmul_isa());
  user.debug.kernels = "portable";
  EXPECT_TRUE(is_portable(make_arithmetic(user, {}, 1)));
  EXPECT_FALSE(
      describe_difference(make_arithmetic(config(8, 64), {}, 1), make_arithmetic(user, {}, 1))
          .empty());
}

TEST(Arithmetic, names_the_target_of_kernels_on_a_device_whatever_this_host_has) {
  auto user = config(8, 64);
  EXPECT_EQ(make_arithmetic(user, {}, 1, "sm_90").isa, "sm_90");
  user.debug.kernels = "portable";
  EXPECT_EQ(make_arithmetic(user, {}, 1, "sm_90").isa, "sm_90");
}

TEST(Budgets, are_the_user_s_or_this_rank_s_share_of_what_is_free_less_a_margin) {
  Config user;
  auto const alone = budgets(user, {100 * kGib, 0}, 1).device_bytes;
  EXPECT_LT(alone, 100 * kGib);
  EXPECT_GT(alone, 50 * kGib);
  EXPECT_EQ(budgets(user, {100 * kGib, 0}, 4).device_bytes, alone / 4);
  user.memory.device_bytes = 3 * kGib;
  EXPECT_EQ(budgets(user, {kGib, 0}, 4).device_bytes, 3 * kGib);
}

TEST(Budgets, have_a_host_tier_only_where_a_size_is_given) {
  Config user;
  auto const all = budgets(user, {100 * kGib, 0}, 1);
  EXPECT_EQ(all.host_bytes, 0);
  user.memory.host_bytes = 0;  // none
  EXPECT_EQ(budgets(user, {100 * kGib, 0}, 1).device_bytes, all.device_bytes);
  user.memory.host_bytes = 5 * kGib;
  EXPECT_EQ(budgets(user, {100 * kGib, 0}, 1).host_bytes, 5 * kGib);
  EXPECT_EQ(budgets(user, {100 * kGib, 0}, 1).device_bytes, all.device_bytes - 5 * kGib);
}

TEST(Budgets, are_apart_beside_a_device_with_memory_of_its_own) {
  Config user;
  Free const free{.memory_bytes = 100 * kGib, .device_bytes = 40 * kGib};
  auto const automatic = budgets(user, free, 4);
  EXPECT_GT(automatic.device_bytes, 30 * kGib);  // this rank's own
  EXPECT_LT(automatic.device_bytes, 40 * kGib);
  EXPECT_EQ(automatic.host_bytes, budgets(user, {100 * kGib, 0}, 4).device_bytes);
  user.memory.host_bytes = kGib;
  EXPECT_EQ(budgets(user, free, 4).device_bytes, automatic.device_bytes);
  EXPECT_EQ(budgets(user, free, 4).host_bytes, kGib);
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

TEST(Budgets, have_storage_only_where_a_path_is_given) {
  Config user;
  EXPECT_EQ(budgets(user, {kGib, 9 * kGib}, 1).nvme_bytes, 0);
  user.memory.nvme_bytes = kGib;
  EXPECT_EQ(budgets(user, {kGib, 9 * kGib}, 1).nvme_bytes, 0);
  user.memory.nvme_path = "somewhere";
  EXPECT_EQ(budgets(user, {kGib, 9 * kGib}, 1).nvme_bytes, kGib);
}

TEST(Budgets, are_no_more_than_the_storage_that_ranks_find_there_less_spares) {
  Config user;
  user.memory.nvme_path = "somewhere";
  user.memory.nvme_bytes = 500 * kGib;
  auto const alone = budgets(user, {kGib, 9 * kGib}, 1).nvme_bytes;
  EXPECT_LT(alone, 9 * kGib);
  EXPECT_GT(alone, 8 * kGib);
  EXPECT_LT(budgets(user, {kGib, 9 * kGib}, 3).nvme_bytes, 3 * kGib);
  EXPECT_EQ(budgets(user, {kGib, 1000}, 1).nvme_bytes, 0);
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
  EXPECT_EQ(own_part(unbound, 0, near), (std::vector{0, 4}));
  EXPECT_EQ(own_part(unbound, 2, near), (std::vector{1, 5}));
  EXPECT_EQ(own_part(unbound, 3, near), (std::vector{2, 6}));
  EXPECT_EQ(own_part(unbound, 1, near), std::vector<int>{}) << "alone on its host";
  std::vector<CoreShare> const bound = {share("a", 0x0f, 4), share("a", 0xf0, 4)};
  EXPECT_EQ(own_part(bound, 0, std::vector{0, 1, 2, 3}), std::vector<int>{});
  std::vector<CoreShare> const quota = {share("a", 0xff, 3), share("a", 0xff, 3)};
  EXPECT_EQ(own_part(quota, 0, near), std::vector<int>{});
  std::vector<CoreShare> const crowded = {share("a", 1, 1), share("a", 1, 1)};
  EXPECT_EQ(own_part(crowded, 0, std::vector{0}), std::vector<int>{});
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

TEST(NarrowSums, AreWarnedOfWhereMicroBatchesAreMany) {
  OptimConfig optim;
  EXPECT_EQ(warning_of_narrow_sums(optim, 1000), "");
  optim.gradients = "bf16";
  EXPECT_EQ(warning_of_narrow_sums(optim, kNarrowSums), "");
  auto const warning = warning_of_narrow_sums(optim, 65);
  EXPECT_EQ(warning.find("optim.gradients: bf16: sums over 65 micro-batches"), 0u) << warning;
}

MemoryConfig given(std::optional<std::int64_t> device_bytes,
                   std::optional<std::int64_t> host_bytes) {
  MemoryConfig memory;
  memory.device_bytes = device_bytes;
  memory.host_bytes = host_bytes;
  return memory;
}
MemoryConfig given_drive(std::int64_t bytes) {
  MemoryConfig memory;
  memory.nvme_path = "/scratch";
  memory.nvme_bytes = bytes;
  return memory;
}

TEST(Budgets, above_what_there_is_are_refused) {
  auto const why = [](MemoryConfig const& memory, Free free, std::int64_t ranks) -> std::string {
    Config user;
    user.memory = memory;
    try {
      budgets(user, free, ranks);
      return "";
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::bad_input);
      return error.what();
    }
  };
  Free cores{.memory_bytes = 10 * kGib, .memory_total_bytes = 24 * kGib};
  EXPECT_EQ(why(given(24 * kGib, {}), cores, 1), "");
  EXPECT_EQ(
      why(given(200 * kGib, {}), cores, 1),
      "memory.device = 200 GiB: there is 24 GiB of main memory on a node; give less, or auto");
  // On the cores both are main memory, and the ranks of a node share it.
  EXPECT_EQ(why(given(20 * kGib, 8 * kGib), cores, 1),
            "memory.device = 20 GiB and memory.host = 8 GiB: there is 24 GiB of main memory on a "
            "node; give less, or auto");
  EXPECT_EQ(why(given(12 * kGib, {}), cores, 2), "");
  EXPECT_EQ(why(given(13 * kGib, {}), cores, 2),
            "memory.device = 13 GiB for each of 2 ranks: there is 24 GiB of main memory on a node; "
            "give less, or auto");
  Free gpu = cores;
  gpu.device_bytes = 8 * kGib;
  gpu.device_total_bytes = 80 * kGib;
  EXPECT_EQ(why(given(80 * kGib, 12 * kGib), gpu, 2), "");
  EXPECT_EQ(why(given(81 * kGib, {}), gpu, 2),
            "memory.device = 81 GiB: there is 80 GiB of device memory for a rank; give less, or "
            "auto");
  EXPECT_EQ(why(given({}, 25 * kGib), gpu, 1),
            "memory.host = 25 GiB: there is 24 GiB of main memory on a node; give less, or auto");
  EXPECT_NE(why(given(std::int64_t{1} << 62, std::int64_t{1} << 62), cores, 64), "");
}

TEST(Budgets, above_a_machine_file_s_name_it) {
  ExistingMemory const node{100 * kGib, 24 * kGib, 1000 * kGib, "m.yaml"};
  auto asked = given_drive(500 * kGib);
  EXPECT_NO_THROW(require_existing(asked, node, 2));
  asked.nvme_bytes = 501 * kGib;
  try {
    require_existing(asked, node, 2);
    FAIL();
  } catch (Error const& error) {
    EXPECT_STREQ(
        error.what(),
        "memory.nvme.size = 501 GiB for each of 2 ranks: m.yaml has 0.977 TiB of drives on "
        "a node; give less, or auto");
  }
  EXPECT_NO_THROW(require_existing(asked, {}, 2));  // nothing is known
}

TEST(Budgets, of_a_plan_that_takes_more_than_is_free_are_said) {
  TierBytes peaks{};
  peaks[Tier::device] = 6 * kGib;
  peaks[Tier::host] = 2 * kGib;
  EXPECT_EQ(overcommitted(peaks, true, 8 * kGib, 1), "");
  EXPECT_NE(overcommitted(peaks, true, 8 * kGib - 1, 1), "");
  EXPECT_EQ(overcommitted(peaks, false, 4 * kGib, 2), "");
  EXPECT_EQ(
      overcommitted(peaks, true, 15 * kGib, 2)
          .find("the plan takes 16 GiB of main memory on this node, of which 15 GiB are free"),
      0u);
  auto const asked = given_drive(5 * kGib);
  EXPECT_EQ(smaller_drive(asked, 5 * kGib), "");
  EXPECT_EQ(
      smaller_drive(asked, 4 * kGib),
      "memory.nvme.size = 5 GiB: /scratch has 4 GiB for each rank, and the plan uses no more");
}

}  // namespace
}  // namespace spillway
