// What a rank may take of each tier.
#include "run/budgets.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/error.hpp"
#include "run/existing_memory.hpp"

namespace spillway::budgets_test {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

MemoryConfig given(std::optional<std::int64_t> device_bytes,
                   std::optional<std::int64_t> host_bytes) {
  MemoryConfig memory;
  memory.device_bytes = device_bytes;
  memory.host_bytes = host_bytes;
  return memory;
}
MemoryConfig given_drive(std::int64_t bytes) {
  MemoryConfig memory;
  memory.nvme_paths = std::vector<std::string>{"/scratch"};
  memory.nvme_bytes = bytes;
  return memory;
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

TEST(Budgets, of_all_ranks_are_the_smallest_of_each_tier) {
  std::vector<Budgets> const all = {{10, 21, 32, 43}, {11, 22, 30, 41}, {12, 20, 31, 42}};
  auto const least = smallest(all);
  EXPECT_EQ(least.device_bytes, 10);
  EXPECT_EQ(least.host_bytes, 20);
  EXPECT_EQ(least.nvme_bytes, 30);
  EXPECT_EQ(least.nvme_bytes_per_s, 41);
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

TEST(Budgets, have_storage_only_where_a_path_is_given) {
  Config user;
  EXPECT_EQ(budgets(user, {kGib, 9 * kGib}, 1).nvme_bytes, 0);
  user.memory.nvme_bytes = kGib;
  EXPECT_EQ(budgets(user, {kGib, 9 * kGib}, 1).nvme_bytes, 0);
  user.memory.nvme_paths = std::vector<std::string>{"somewhere"};
  EXPECT_EQ(budgets(user, {kGib, 9 * kGib}, 1).nvme_bytes, kGib);
}

TEST(Budgets, are_no_more_than_the_storage_that_ranks_find_there_less_spares) {
  Config user;
  user.memory.nvme_paths = std::vector<std::string>{"somewhere"};
  user.memory.nvme_bytes = 500 * kGib;
  auto const alone = budgets(user, {kGib, 9 * kGib}, 1).nvme_bytes;
  EXPECT_LT(alone, 9 * kGib);
  EXPECT_GT(alone, 8 * kGib);
  EXPECT_LT(budgets(user, {kGib, 9 * kGib}, 3).nvme_bytes, 3 * kGib);
  EXPECT_EQ(budgets(user, {kGib, 1000}, 1).nvme_bytes, 0);
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
  Free cores{.memory_bytes = 10 * kGib, .existing = {.node_bytes = 24 * kGib}};
  EXPECT_EQ(why(given(24 * kGib, {}), cores, 1), "");
  EXPECT_EQ(
      why(given(200 * kGib, {}), cores, 1),
      "memory.device = 200 GiB: there is 24 GiB of main memory on a node; give less, or auto");
  EXPECT_EQ(why(given(200 * kGib, 0), cores, 1), why(given(200 * kGib, {}), cores, 1))
      << "of which nothing is taken is not named";
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
  gpu.existing.device_bytes = 80 * kGib;
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
  auto striped = asked;
  striped.nvme_paths->emplace_back("/more");
  EXPECT_EQ(smaller_drive(striped, 4 * kGib),
            "memory.nvme.size = 5 GiB: /scratch and /more have 4 GiB for each rank, and the plan "
            "uses no more");
}

TEST(Budgets, of_a_machine_in_a_file_are_those_of_a_run_on_it) {
  Machine gpus{.device_bytes = 80 * kGib, .host_bytes = 400 * kGib, .nvme_bytes = 900 * kGib};
  Config user;
  user.memory = given_drive(200 * kGib);
  Free const there{.memory_bytes = gpus.host_bytes,
                   .storage_bytes = gpus.nvme_bytes,
                   .device_bytes = gpus.device_bytes};
  auto const run = budgets(user, there, 4), plan = budgets(user, free_of(gpus, "m.yaml"), 4);
  EXPECT_LT(plan.device_bytes, 80 * kGib);
  EXPECT_EQ(plan.device_bytes, run.device_bytes);
  EXPECT_EQ(plan.host_bytes, run.host_bytes);
  EXPECT_EQ(plan.nvme_bytes, run.nvme_bytes);
  user.memory = {};  // nobody names a drive: a file's is meant
  EXPECT_EQ(budgets(user, there, 4).nvme_bytes, 0);
  EXPECT_GT(budgets(user, free_of(gpus, "m.yaml"), 4).nvme_bytes, plan.nvme_bytes);
  gpus.nvme_bytes = 0;  // the file does not say
  EXPECT_EQ(budgets(user, free_of(gpus, "m.yaml"), 4).nvme_bytes, 0);
  user.memory = given_drive(200 * kGib);
  EXPECT_EQ(budgets(user, free_of(gpus, "m.yaml"), 4).nvme_bytes, 200 * kGib);
}

}  // namespace
}  // namespace spillway::budgets_test
