// Which device each rank computes on.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "run/device_choice.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::train_device_choice_test {
namespace {

using Seen = std::vector<SeenDevices>;

// Nodes of so many ranks each, which all see so many devices.
Seen nodes(int count, int ranks, int devices) {
  Seen all;
  for (int rank = 0; rank < count * ranks; ++rank)
    all.push_back({devices, rank - rank % ranks, rank % ranks});
  return all;
}

SeenDevices none_because(std::string_view why) {
  SeenDevices result;
  std::ranges::copy(why, result.why_none.begin());
  return result;
}

std::vector<int> chosen(std::string_view asked, Seen const& all) {
  std::vector<int> numbers;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    numbers.push_back(choose_device(asked, all, static_cast<int>(rank)).value_or(-1));
  return numbers;
}

std::string refusal(std::string_view asked, Seen const& all) {
  return test::refused_with([&] { choose_device(asked, all, 0); });
}

OpenedDevice device(int node, std::string_view id, std::string_view name = "",
                    std::string_view target = "") {
  OpenedDevice result{.node_leader = node};
  std::ranges::copy(id, result.id.begin());
  std::ranges::copy(name, result.name.begin());
  std::ranges::copy(target, result.target.begin());
  return result;
}

TEST(DeviceChoice, is_by_local_rank) {
  using Numbers = std::vector<int>;
  EXPECT_EQ(chosen("auto", nodes(2, 2, 4)), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(chosen("cuda", nodes(1, 3, 3)), (Numbers{0, 1, 2}));
  EXPECT_EQ(chosen("cuda", nodes(1, 3, 1)),
            (Numbers{0, 0, 0}));  // each sees its own, or they share
  EXPECT_EQ(chosen("cuda:2", nodes(1, 2, 4)), (Numbers{2, 2}));
  auto uneven = nodes(1, 3, 2);
  uneven[2].devices = 3;
  EXPECT_EQ(chosen("auto", uneven), (Numbers{0, 1, 2})) << "each counts what it sees";
}

TEST(DeviceChoice, falls_to_the_cores_only_if_nobody_sees_a_device) {
  EXPECT_EQ(chosen("auto", nodes(1, 2, 0)), (std::vector<int>{-1, -1}));
  EXPECT_EQ(chosen("cpu", nodes(1, 2, 4)), (std::vector<int>{-1, -1}));
  auto mixed = nodes(1, 3, 2);
  mixed[1].devices = 0;
  EXPECT_NE(refusal("auto", mixed).find("run.device: auto: rank 1 sees no GPU"), std::string::npos);
}

// The devices with these numbers are too old for the kernels.
SeenDevices without(SeenDevices seen, std::vector<std::size_t> const& numbers) {
  for (auto const number : numbers) seen.unusable.set(number);
  std::ranges::copy(std::string_view("T4 is old"), seen.why_none.begin());
  return seen;
}

TEST(DeviceChoice, passes_over_devices_that_cannot_be_used) {
  auto all = nodes(1, 2, 4);
  for (auto& seen : all) seen = without(seen, {0, 2});
  EXPECT_EQ(chosen("auto", all), (std::vector<int>{1, 3}));
  EXPECT_EQ(chosen("cuda:1", all), (std::vector<int>{1, 1}));
  EXPECT_EQ(refusal("cuda:2", all), "run.device: cuda:2: rank 0 cannot use it: T4 is old");
  EXPECT_EQ(refusal("cuda:4", all),
            "run.device: cuda:4: rank 0 sees 4 GPUs, whose numbers begin with 0");
}

TEST(DeviceChoice, falls_to_the_cores_where_no_device_can_be_used) {
  auto all = nodes(1, 2, 1);
  all[1] = without(all[1], {0});
  EXPECT_EQ(refusal("auto", all),
            "run.device: auto: rank 1 sees no GPU that it can use: T4 is old");
  all[0] = without(all[0], {0});
  all[0].has_driver = true;
  EXPECT_EQ(chosen("auto", all), (std::vector<int>{-1, -1}));
  EXPECT_EQ(
      warning_of_cores("auto", all),
      "run.device: auto: computes on the cores: rank 0 sees no GPU that it can use: T4 is old");
  EXPECT_EQ(refusal("cuda", all),
            "run.device: cuda: rank 0 sees no GPU that it can use: T4 is old");
  EXPECT_EQ(refusal("cuda:0", all), "run.device: cuda:0: rank 0 cannot use it: T4 is old");
}

TEST(DeviceChoice, warns_of_cores_where_a_device_could_be_expected) {
  Seen all = {none_because("no module here"), none_because("its module does not open")};
  EXPECT_EQ(warning_of_cores("auto", all), "");
  all[1].has_driver = true;
  EXPECT_EQ(
      warning_of_cores("auto", all),
      "run.device: auto: computes on the cores: rank 1 sees no GPU: its module does not open");
  EXPECT_EQ(warning_of_cores("cpu", all), "");
}

TEST(DeviceChoice, is_told_in_words) {
  auto const a = device(0, "a", "H100", "sm_90"), b = device(0, "b", "H100", "sm_90"),
             elsewhere = device(2, "a", "H100", "sm_90");
  EXPECT_EQ(describe_devices(std::vector{a}), "1 GPU, H100 (sm_90), with 1 rank");
  EXPECT_EQ(describe_devices(std::vector{a, b, elsewhere}), "3 GPUs, H100 (sm_90), with 3 ranks");
  EXPECT_EQ(describe_devices(std::vector{a, a, b, elsewhere, a}),
            "3 GPUs, H100 (sm_90), with 5 ranks");
  EXPECT_EQ(describe_cores(1, 1), "the cores with 1 rank of 1 thread");
  EXPECT_EQ(describe_cores(2, 4), "the cores with 2 ranks of 4 threads");
}

TEST(DeviceChoice, names_what_is_missing) {
  EXPECT_EQ(refusal("cuda", {none_because("there is no driver")}),
            "run.device: cuda: rank 0 sees no GPU: there is no driver");
  EXPECT_EQ(refusal("cuda:2", nodes(1, 1, 2)),
            "run.device: cuda:2: rank 0 sees 2 GPUs, whose numbers begin with 0");
  EXPECT_EQ(refusal("cuda:1", nodes(1, 1, 1)),
            "run.device: cuda:1: rank 0 sees 1 GPU, whose numbers begin with 0");
  EXPECT_EQ(refusal("cuda:1", nodes(1, 1, 2)), "");
  auto uneven = nodes(1, 3, 4);
  uneven[2].devices = 3;
  EXPECT_EQ(refusal("cuda:2", uneven), "");
  EXPECT_EQ(refusal("cuda:3", uneven),
            "run.device: cuda:3: rank 2 sees 3 GPUs, whose numbers begin with 0");
  EXPECT_EQ(refusal("cuda:99999999999", nodes(1, 1, 2)),
            "run.device: cuda:99999999999: no machine has so many devices");
}

TEST(DeviceChoice, shares_a_device_only_if_it_is_named) {
  std::vector const apart = {device(0, "a"), device(0, "b"), device(2, "a")};
  EXPECT_NO_THROW(require_own_devices("auto", apart));
  EXPECT_EQ(sharers(apart, 0), 1);
  std::vector const together = {device(0, "a"), device(0, "b"), device(0, "b")};
  EXPECT_THROW(require_own_devices("cuda", together), Error);
  EXPECT_NO_THROW(require_own_devices("cuda:1", together));
  EXPECT_EQ(sharers(together, 2), 2);
  EXPECT_EQ(sharers(together, 0), 1);
  try {
    require_own_devices("auto", together);
    ADD_FAILURE();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_STREQ(error.what(),
                 "run.device: auto: ranks 1 and 2 have the same GPU: start a rank for each GPU of "
                 "a node, or let them share it with cuda:0");
  }
}

// A plan is for one target, and the algorithms of products are rank 0's.
TEST(DeviceChoice, takes_devices_of_one_kind_only) {
  auto const h100 = device(0, "a", "H100", "sm_90"), other_h100 = device(4, "b", "H100", "sm_90"),
             a100 = device(0, "c", "A100", "sm_80"), h200 = device(0, "d", "H200", "sm_90");
  auto const refusal = [](std::vector<OpenedDevice> const& all) {
    return test::refused_with([&] { require_like_devices("auto", all); });
  };
  EXPECT_EQ(refusal({h100, other_h100, h100}), "");
  EXPECT_EQ(refusal({a100}), "");
  EXPECT_EQ(refusal({h100, other_h100, a100}),
            "run.device: auto: ranks 0 and 2 have unlike GPUs, H100 (sm_90) and A100 (sm_80): all "
            "ranks need the same");
  EXPECT_EQ(refusal({h100, h200}),
            "run.device: auto: ranks 0 and 1 have unlike GPUs, H100 (sm_90) and H200 (sm_90): all "
            "ranks need the same");
}

}  // namespace
}  // namespace spillway::train_device_choice_test
