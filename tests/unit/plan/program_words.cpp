// Which lanes and tiers a step uses, how often it runs a segment, and how items are told.
#include <gtest/gtest.h>

#include "plan/data/budgets.hpp"
#include "plan/data/reach.hpp"
#include "plan/data/words.hpp"
#include "tests/support/hand_made.hpp"

namespace spillway::test::program_words_test {
namespace {

TEST(Lanes, of_a_copy_follow_from_its_tiers) {
  using enum Tier;
  constexpr auto h2d = Lane::h2d, d2h = Lane::d2h, read = Lane::nvme_read, write = Lane::nvme_write;
  struct {
    Tier from, to;
    Lane lane;
  } const rows[] = {{device, device, h2d}, {device, host, d2h}, {device, nvme, write},
                    {host, device, h2d},   {host, host, d2h},   {host, nvme, write},
                    {nvme, device, read},  {nvme, host, read},  {nvme, nvme, write}};
  for (auto const& row : rows)
    EXPECT_EQ(copy_lane(row.from, row.to), row.lane) << name(row.from) << " " << name(row.to);
}

TEST(Lanes, reach_their_tiers) {
  using enum Tier;
  for (Lane const lane : {Lane::comm, Lane::host, Lane::data}) {
    EXPECT_TRUE(reaches(lane, host, false) && reaches(lane, host, true));
    EXPECT_TRUE(reaches(lane, device, true));
    EXPECT_FALSE(reaches(lane, device, false));
    EXPECT_FALSE(reaches(lane, nvme, true));
    EXPECT_EQ(workplace(lane, true), device);
    EXPECT_EQ(workplace(lane, false), host);
  }
  for (bool const unified : {false, true}) {
    EXPECT_TRUE(reaches(Lane::compute, device, unified));
    EXPECT_FALSE(reaches(Lane::compute, host, unified));
    EXPECT_EQ(workplace(Lane::compute, unified), device);
    EXPECT_EQ(first_stop(device, nvme, unified), unified ? nvme : host);
    EXPECT_EQ(first_stop(nvme, device, unified), unified ? device : host);
    EXPECT_EQ(first_stop(host, nvme, unified), nvme);
    EXPECT_EQ(first_stop(device, host, unified), host);
  }
}

TEST(Lanes, and_tiers_have_words_for_people) {
  std::string lanes, tiers, contents;
  for (Lane const lane : kLanesInOrder) lanes += std::string(words(lane)) + "; ";
  for (Tier const tier : kTiersInOrder) tiers += std::string(words(tier)) + "; ";
  for (int i = 0; i < kContents; ++i) contents += std::string(name(static_cast<Content>(i))) + "; ";
  EXPECT_EQ(lanes,
            "computing; copying to the device; copying to the host; reading NVMe; writing NVMe; "
            "talking to other ranks; working on the host; reading data; ");
  EXPECT_EQ(tiers, "device memory; host memory; NVMe; ");
  EXPECT_EQ(contents,
            "parameters; gradients; optimizer state; activations; scratch; batch and scalars; ");
}

// A tensor of each role, in a buffer of its number.
Program of_every_role() {
  Program program;
  for (int role = 0; role < 10; ++role) {
    auto& tensor = program.tensors.emplace_back();
    tensor.role = static_cast<Role>(role);
    auto& buffer = program.buffers.emplace_back();
    buffer.id = buffer.tensor = role;
  }
  return program;
}

TEST(Items, move_the_kind_of_data_that_is_not_scratch) {
  auto const program = of_every_role();
  auto const kind = [&](Role role) {
    return content(program, program.buffers[static_cast<int>(role)]);
  };
  using enum Content;
  EXPECT_EQ(kind(Role::parameter), parameters);
  EXPECT_EQ(kind(Role::remainder), optimizer);
  EXPECT_EQ(kind(Role::moment), optimizer);
  EXPECT_EQ(kind(Role::gradient), gradients);
  EXPECT_EQ(kind(Role::activation), activations);
  EXPECT_EQ(kind(Role::edge), activations);
  EXPECT_EQ(kind(Role::workspace), scratch);
  EXPECT_EQ(kind(Role::batch), small);
  EXPECT_EQ(kind(Role::scalar), small);
  EXPECT_EQ(kind(Role::cache), activations);
  auto const moved = [&](std::vector<int> const& operands) {
    Item item;
    item.operands.assign(operands.begin(), operands.end());
    return moved_content(program, item);
  };
  constexpr int workspace = static_cast<int>(Role::workspace);
  EXPECT_EQ(moved({workspace, static_cast<int>(Role::moment)}), optimizer);
  EXPECT_EQ(moved({static_cast<int>(Role::gradient), workspace}), gradients);
  EXPECT_EQ(moved({static_cast<int>(Role::edge), static_cast<int>(Role::parameter)}), activations);
  EXPECT_EQ(moved({kAbsent, workspace}), scratch);
  EXPECT_EQ(moved({}), small);
}

// Batches and scalars lie in main memory beside a device, which then has all else.
TEST(Programs, stay_on_the_device_but_for_batches_and_scalars) {
  auto program = of_every_role();
  EXPECT_TRUE(stays_on_device(program));
  for (auto const role : {Role::batch, Role::scalar}) {
    auto const i = static_cast<int>(role);
    EXPECT_TRUE(is_exchanged_with_host(program.tensors[i]));
    EXPECT_EQ(compute_tier(program.tensors[i], true), Tier::device);
    EXPECT_EQ(compute_tier(program.tensors[i], false), Tier::host);
    program.buffers[i].tier = Tier::host;
  }
  EXPECT_FALSE(uses_host_tier(program));
  EXPECT_TRUE(stays_on_device(program));
  for (int role = 0; role < static_cast<int>(Role::batch); ++role) {
    EXPECT_FALSE(is_exchanged_with_host(program.tensors[role])) << role;
    EXPECT_EQ(compute_tier(program.tensors[role], false), Tier::device) << role;
    program.buffers[role].tier = Tier::host;
    EXPECT_TRUE(uses_host_tier(program)) << role;
    EXPECT_FALSE(stays_on_device(program)) << role;
    program.buffers[role].tier = Tier::device;
  }
  program.peak_bytes[Tier::nvme] = 1;
  EXPECT_FALSE(stays_on_device(program));
  EXPECT_FALSE(uses_host_tier(program));
}

TEST(Segments, run_once_a_step_but_the_middle_for_all_micro_batches_between) {
  Program program;
  program.segments = {{"first", 0, 0, 1}, {"middle", 0, 0, 1}, {"last", 0, 0, 1}, {"update"}};
  auto const sequence = [&](std::int64_t micro_batches, std::int64_t most) {
    program.micro_batches = micro_batches;
    return segment_sequence(program, most);
  };
  using Sequence = std::vector<int>;
  EXPECT_EQ(sequence(5, 100), (Sequence{0, 1, 1, 1, 2, 3}));
  EXPECT_EQ(sequence(5, 2), (Sequence{0, 1, 1, 2, 3}));
  EXPECT_EQ(sequence(5, 0), (Sequence{0, 2, 3}));
  EXPECT_EQ(sequence(2, 2), (Sequence{0, 2, 3}));
  EXPECT_EQ(sequence(1, 2), (Sequence{0, 2, 3}));
  EXPECT_EQ(times_a_step(program, program.segments[1]), 0);
  program.segments[0].micro_batches = program.segments[1].micro_batches = 3;
  EXPECT_EQ(sequence(10, 100), (Sequence{0, 1, 1, 2, 3}));
  EXPECT_EQ(sequence(4, 100), (Sequence{0, 2, 3}));
}

TEST(Items, are_told_by_number_lane_kind_subject_and_bytes) {
  HandMade made;
  auto& program = made.program;
  made.segment("last");
  auto const a = made.buffer(Tier::device, 2048), b = made.buffer(Tier::nvme, 1024);
  program.ops.resize(2);
  program.ops[1].name = "h.3/fc";
  program.ops[1].kind = OpKind::matmul;
  for (auto const kind : {ItemKind::op, ItemKind::load_batch, ItemKind::copy, ItemKind::all_to_all,
                          ItemKind::all_gather, ItemKind::commit, ItemKind::report}) {
    auto& item = program.items[made.item(Lane::nvme_write, {a}, {a, b})];
    item.kind = kind;
    item.op = 1;
    item.operands = {b, a};
  }
  program.items[4].operands.clear();
  EXPECT_EQ(describe(program, 0), "item 0 nvme_write matmul h.3/fc (3 KiB)");
  EXPECT_EQ(describe(program, 1), "item 1 nvme_write load_batch (3 KiB)");
  EXPECT_EQ(describe(program, 2), "item 2 nvme_write copy b (3 KiB)");
  EXPECT_EQ(describe(program, 3), "item 3 nvme_write all_to_all b (3 KiB)");
  EXPECT_EQ(describe(program, 4), "item 4 nvme_write all_gather (3 KiB)");
  EXPECT_EQ(describe(program, 5), "item 5 nvme_write commit (3 KiB)");
  EXPECT_EQ(describe(program, 6), "item 6 nvme_write report (3 KiB)");
  EXPECT_EQ(describe(program, 7), "item 7");
  EXPECT_EQ(describe(program, -1), "item -1");
}

TEST(Budgets, lack_the_bytes_of_each_tier_that_peaks_exceed) {
  Budgets const budgets{100, 50, 0};
  EXPECT_EQ(missing_bytes({101, 50, 7}, budgets), (TierBytes{1, 0, 7}));
  EXPECT_EQ(missing_bytes({1, 53, 0}, budgets), (TierBytes{0, 3, 0}));
  EXPECT_EQ(all_missing_bytes({101, 53, 7}, budgets), 11);
  EXPECT_TRUE(has_tier({}, Tier::device));
  EXPECT_FALSE(has_tier(budgets, Tier::nvme));
  EXPECT_TRUE(allows(budgets, BlockPolicy::light_host));
  EXPECT_FALSE(allows(budgets, BlockPolicy::light_nvme));
  EXPECT_TRUE(allows({}, BlockPolicy::recompute));
  EXPECT_EQ(share_of(1000, 0.8, 3), 266);
}

}  // namespace
}  // namespace spillway::test::program_words_test
