// What a plan takes, keeps in memory and compares with is told in words, each text to the letter.
#include <gtest/gtest.h>

#include <numeric>

#include "plan/explain/compare.hpp"
#include "plan/explain/explain.hpp"
#include "tests/support/hand_made.hpp"

namespace spillway::test::told_plans_test {
namespace {

constexpr std::int64_t kMib = 1 << 20;

// A device of 100 MiB: kept and used activations, a parameter that was brought, state and scratch.
class ToldPlans : public testing::Test {
 protected:
  ToldPlans() {
    auto& program = m_made.program;
    m_made.segment("last");
    add(Tier::device, Role::parameter, 10).persistent = true;
    add(Tier::device, Role::moment, 20).persistent = true;
    auto const kept = add(Tier::device, Role::activation, 12, 0).id;
    auto const other = add(Tier::device, Role::edge, 3, 0).id;
    auto const used = add(Tier::device, Role::activation, 24, 1).id;
    auto const brought = add(Tier::device, Role::parameter, 7).id;
    program.tensors[brought].persistent = true;
    auto const small = add(Tier::device, Role::workspace, 0.5).id;
    auto const spilled = add(Tier::nvme, Role::activation, 6, 0).id;
    auto const read = add(Tier::host, Role::batch, 2).id;
    add(Tier::host, Role::gradient, 9).persistent = true;
    program.ops.resize(1);
    program.ops[0].name = "h.1/fc";
    program.ops[0].kind = OpKind::matmul;
    program.ops[0].phase = Phase::backward;
    item(Lane::compute, ItemKind::op, {}, {kept, other});
    item(Lane::h2d, ItemKind::copy, {read}, {brought});
    item(Lane::nvme_write, ItemKind::copy, {kept}, {spilled});
    item(Lane::compute, ItemKind::op, {kept, other, brought, small}, {used});
    item(Lane::comm, ItemKind::commit, {small, spilled}, {});
    program.items[3].block = 1;
    program.peak_bytes = {100 * kMib, 11 * kMib, 6 * kMib};
    program.persistent_bytes = {30 * kMib, 9 * kMib, 6 * kMib};
  }

  Buffer& add(Tier tier, Role role, double mebibytes, int block = -1) {
    auto const id = m_made.buffer(tier, static_cast<std::int64_t>(mebibytes * kMib));
    m_made.program.tensors[id].role = role;
    m_made.program.tensors[id].block = block;
    return m_made.program.buffers[id];
  }
  void item(Lane lane, ItemKind kind, std::vector<BufferId> reads, std::vector<BufferId> writes) {
    auto& item = m_made.program.items[m_made.item(lane, reads, writes)];
    item.kind = kind;
    item.op = kind == ItemKind::op ? 0 : -1;
    item.operands = std::move(reads);
    item.operands.insert(item.operands.end(), writes.begin(), writes.end());
  }

  HandMade m_made;
};

TEST_F(ToldPlans, say_what_is_there_when_the_most_bytes_are) {
  EXPECT_EQ(peaks_text(m_made.program), R"(
What is there when the most bytes are in use
device memory 100 MiB, in the backward pass at h.1/fc (item 3 of 5)
     24 MiB  24 %  activations in use: e
     20 MiB  20 %  optimizer state: b
     15 MiB  15 %  activations kept for later: 2 tensors, largest c (12 MiB)
     10 MiB  10 %  parameters: a
      7 MiB   7 %  parameters brought for use: f
    512 KiB  <1 %  small things
   23.5 MiB  24 %  unused then
host memory 11 MiB, at item 1 h2d copy i (7 MiB)
      9 MiB  82 %  gradients: j
      2 MiB  18 %  batch and scalars: i
NVMe 6 MiB, all the time
      6 MiB 100 %  activations spilled: h
)");
  auto const moment = peak_moment(m_made.program, Tier::device);
  EXPECT_EQ(moment.item, 3);
  EXPECT_EQ(moment.gap_bytes, 100 * kMib - static_cast<std::int64_t>(76.5 * kMib));
}

TEST_F(ToldPlans, say_where_seconds_go_and_what_is_moved) {
  Simulation simulation;
  simulation.step_s = 10;
  // The third item stands for three more like it.
  simulation.intervals = {{0, 0, 4}, {1, 4, 5}, {2, 5, 7, 4}, {3, 7, 9}, {4, 9, 10}};
  simulation.busy_s = {6, 0.02, 0.009, 0, 9.5, 1, 3};
  auto const path =
      std::vector<LaneShare>{{Lane::nvme_write, 5, {{"activations", 4.5}, {"gradients", 0.5}}},
                             {Lane::compute, 3, {{"matmul", 2.5}, {"gelu", 0.495}, {"add", 0.005}}},
                             {Lane::host, 0.01, {{"adamw", 0.01}}},
                             {Lane::comm, 0.009, {{"commit", 0.009}}}};
  EXPECT_EQ(time_text(m_made.program, simulation, path), R"(
Where the 10 s go: the longest chain of work, each part after the one before
  writing NVMe                5 s  50 %  activations 4.5 s, gradients 500 ms
  computing                   3 s  30 %  matmul 2.5 s, gelu 495 ms
  working on the host       10 ms  <1 %  adamw 10 ms
How long everything is busy in that time, on the chain or not, and what it moves
  computing                   6 s  60 %
  copying to the device     20 ms  <1 %  7 MiB: batch and scalars 7 MiB
  writing NVMe              9.5 s  95 %  24 MiB: activations 24 MiB
  talking to other ranks      1 s  10 %  0 B
  working on the host         3 s  30 %
)");
}

// Kinds are named while they fit on a line, here two to its last column but one.
TEST_F(ToldPlans, name_as_many_kinds_as_a_line_holds) {
  Simulation simulation;
  simulation.step_s = 10;
  LaneShare lane{Lane::compute, 9, {}};
  std::string const kind = "kind_of_14_let";
  for (int i = 0; i < 9; ++i) lane.kinds.push_back({kind, 1});
  auto const text = time_text(m_made.program, simulation, {lane});
  auto const begin = text.find("  computing");
  EXPECT_EQ(text.substr(begin, text.find('\n', begin) - begin),
            "  computing                   9 s  90 %  " + kind + " 1 s, " + kind + " 1 s");
}

TEST(ToldComparisons, have_a_row_for_each_plan_a_tier_and_a_sharding) {
  std::vector<Alternative> const others = {
      {"all-keep", {false, {5 * kMib, 6 * kMib, 7 * kMib}, 2}},
      {"all-recompute", {true, {3 * kMib, 2 * kMib, kMib}, 3.5}},
      {"all-host", {false, {kMib, 5 * kMib, 0}, 0}},
      {"all-nvme", {true, {2 * kMib, 0, 0}, 3}},
      {"all-light", {true, {kMib, 0, 0}, 0}}};
  std::vector<MoreRoom> const more = {
      {Tier::device, {true, {}, 3}}, {Tier::host, {false, {}, 2}}, {Tier::nvme, {true, {}, 0}}};
  std::vector<Alternative> const shardings = {{"none", {true, {4 * kMib, 0, 0}, 5}},
                                              {"optimizer", {true, {3 * kMib, 0, 0}, 4}},
                                              {"all", {false, {9 * kMib, 0, 0}, 6}}};
  Budgets const budgets{4 * kMib, 4 * kMib, 4 * kMib};
  PlanCost const chosen{true, {4 * kMib, 3 * kMib, 0}, 4};
  auto const text = compare(chosen, {others, more, shardings}, budgets);
  EXPECT_EQ(text, R"(
Other ways: the activations of all layers alike, the rest as is best then
                     step            device      host      NVMe
  this plan           4 s             4 MiB     3 MiB         -
  all-keep       does not fit: needs 1 MiB more device memory and 2 MiB more
                   host memory and 3 MiB more NVMe, then 2 s
  all-recompute     3.5 s   -12 %     3 MiB     2 MiB     1 MiB
  all-host       does not fit: needs 1 MiB more host memory
  all-nvme            3 s   -25 %     2 MiB         -         -
  all-light             ?             1 MiB         -         -
Where nothing fits, a row has the plan that lacks least, and its step with room.
all-nvme is faster by prediction: plan.activations=nvme on the command line

What 1 GiB more would buy, for a step
  device memory  3 s instead of 4 s (-25 %)
  host memory    nothing
  NVMe           ?

What ranks share out (plan.shard): estimates, beside that of none
                     step            device      host      NVMe
  none                5 s    same     4 MiB         -         -
  optimizer           4 s   -20 %     3 MiB         -         -
  all            does not fit: needs 5 MiB more device memory, then 6 s
)");
  auto const alone = compare(chosen, {others, more, {}}, budgets);
  EXPECT_EQ(alone, text.substr(0, text.find("\nWhat ranks share out")));
}

TEST(ToldComparisons, explain_rows_of_what_does_not_fit_only_where_there_are_some) {
  auto const explained = [](PlanCost const& other) {
    return compare({true, {}, 4}, {{{"all-nvme", other}}, {}, {}}, {}).find("lacks least") !=
           std::string::npos;
  };
  EXPECT_TRUE(explained({false, {1, 0, 0}, 3}));
  EXPECT_FALSE(explained({false, {1, 0, 0}, 0}));
  EXPECT_FALSE(explained({true, {1, 0, 0}, 3}));
}

// No advice where nothing is faster, or not by what is shown.
TEST(ToldComparisons, advise_what_is_faster_by_more_than_nothing) {
  auto const advice = [](double step_s, bool fits) {
    auto const text =
        compare({true, {}, 4}, {{{"all-nvme", {fits, {1, 0, 0}, step_s}}}, {}, {}}, {});
    return text.find("is faster by prediction") != text.npos;
  };
  EXPECT_TRUE(advice(3, true));
  EXPECT_FALSE(advice(3, false));
  EXPECT_FALSE(advice(3.99, true));
  EXPECT_FALSE(advice(5, true));
  EXPECT_FALSE(advice(0, true)) << "nobody knows how long it takes";
}

TEST(ToldComparisons, advise_the_fastest_wherever_it_stands) {
  auto const text = compare({true, {}, 4},
                            {{{"all-recompute", {true, {1, 0, 0}, 3}},
                              {"all-nvme", {true, {1, 0, 0}, 3.5}},
                              {"all-host", {false, {1, 1, 0}, 1}}},
                             {},
                             {}},
                            {kMib, 0, 0});
  EXPECT_NE(text.find("\nall-recompute is faster by prediction: plan.activations=recompute on the "
                      "command line\n"),
            text.npos)
      << text;
  EXPECT_EQ(text.find("all-nvme is faster"), text.npos) << text;
}

// What takes a hundredth of a tier is no small thing yet.
TEST(ToldPeaks, have_a_line_for_a_hundredth) {
  HandMade made;
  auto& program = made.program;
  made.segment("last");
  for (std::int64_t const mebibytes : {99, 1})
    program.buffers[made.buffer(Tier::device, mebibytes * kMib)].persistent = true;
  program.tensors[0].role = Role::moment;
  program.tensors[1].role = Role::parameter;
  made.item(Lane::compute, {}, {});
  program.peak_bytes = program.persistent_bytes = {100 * kMib, 0, 0};
  EXPECT_EQ(peaks_text(program), R"(
What is there when the most bytes are in use
device memory 100 MiB, all the time
     99 MiB  99 %  optimizer state: a
      1 MiB   1 %  parameters: b
)");
}

TEST(ToldPeaks, name_the_pass) {
  auto const text = [](Phase phase) {
    HandMade made;
    auto& program = made.program;
    made.segment("last");
    program.ops.resize(1);
    program.ops[0].name = "h.1/x";
    program.ops[0].phase = phase;
    made.item(Lane::compute, {}, {made.buffer(Tier::device, 8192)});
    program.items[0].kind = ItemKind::op;
    program.items[0].op = 0;
    program.peak_bytes = {8192, 0, 0};
    return peaks_text(program);
  };
  auto const has = [&](Phase phase, std::string const& part) {
    return text(phase).find("device memory 8 KiB, in the " + part + " at h.1/x (item 0 of 1)\n") !=
           std::string::npos;
  };
  EXPECT_TRUE(has(Phase::forward, "forward pass"));
  EXPECT_TRUE(has(Phase::backward, "backward pass"));
  EXPECT_TRUE(has(Phase::norm, "update"));
  EXPECT_TRUE(has(Phase::update, "update"));
}

TEST(Words, of_shares_counts_and_changes) {
  EXPECT_EQ(percent(0, 10), "0 %");
  EXPECT_EQ(percent(1, 0), "0 %");
  EXPECT_EQ(percent(0.049, 10), "<1 %");
  EXPECT_EQ(percent(0.05, 10), "<1 %");
  EXPECT_EQ(percent(0.051, 10), "1 %");
  EXPECT_EQ(percent(6.2, 10), "62 %");
  EXPECT_EQ(count(0, "rank"), "0 ranks");
  EXPECT_EQ(count(1, "rank"), "1 rank");
  EXPECT_EQ(count(2, "rank"), "2 ranks");
  EXPECT_EQ(bytes_or_dash(0), "-");
  EXPECT_EQ(bytes_or_dash(3 * kMib), "3 MiB");
  EXPECT_EQ(change(5, 4), "+25 %");
  EXPECT_EQ(change(3, 4), "-25 %");
  EXPECT_EQ(change(4.019, 4), "same");
  EXPECT_EQ(change(201, 200), "same");
  EXPECT_EQ(change(199, 200), "same");
  EXPECT_EQ(change(4.021, 4), "+1 %");
  EXPECT_EQ(change(3.981, 4), "same");
  EXPECT_EQ(change(0, 4), "");
  EXPECT_EQ(change(4, 0), "");
}

}  // namespace
}  // namespace spillway::test::told_plans_test
