// What ranks share out, where it lies and how many micro-batches walk together change no bit; nor
// does a checkpoint that ranks with other slices go on from.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::shards_test {
namespace {

constexpr int kRanks = 3;

// Seven sequences are three micro-batches a rank, of which some are empty.
Keys const kKeys = {"run.steps=10", "batch.sequences=7", "batch.micro=1", "optim.clip=0.25",
                    "memory.host=16MiB"};
Keys const kWatched = {"debug.poison=true", "debug.locked_allocator=true"};

struct Case {
  std::string shard, tier, group;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (char const* const shard : {"none", "optimizer", "gradients", "all"})
    for (char const* const tier : {"device", "host", "nvme"})
      for (char const* const group : {"1", "2", "auto"}) cases.push_back({shard, tier, group});
  return cases;
}

std::vector<Case> some_cases() {
  constexpr std::size_t some = 6;
  auto const cases = all_cases();
  if (takes_all()) return cases;
  std::vector<Case> result;
  for (auto at = turn_of(cases.size() / some, 3); at < cases.size(); at += cases.size() / some)
    result.push_back(cases[at]);
  return result;
}

Keys keys_of(Case const& c) {
  auto const gradients = c.tier == "device" ? "device" : "host";
  return {"plan.shard=" + c.shard, "plan.group=" + c.group, "plan.parameters=" + c.tier,
          "plan.optimizer=" + c.tier, fmt::format("plan.gradients={}", gradients)};
}

Experiment const& of_three() {
  static Experiment const experiment("shards", kRanks, kKeys);
  return experiment;
}

Run const& replicated() {
  static Run const run = of_three().run("none", {"plan.shard=none", "plan.group=1"});
  return run;
}

TEST(Shards, change_no_bit_wherever_they_lie) {
  for (auto const& c : some_cases()) {
    auto const name = fmt::format("{}_{}_{}", c.shard, c.tier, c.group);
    auto const run = of_three().run(name, keys_of(c) + kWatched);
    ASSERT_FALSE(HasFailure()) << name;
    expect_equal_steps(replicated(), run);
    expect_equal_state(replicated(), run);
    expect_measured_as_planned(run);
  }
}

TEST(Shards, may_differ_from_chunk_to_chunk) {
  auto const run = of_three().run("mixed", Keys{"plan.shard=[none,all,gradients,optimizer]",
                                                "plan.optimizer=[device,host,nvme]"} +
                                               kWatched);
  expect_equal_steps(replicated(), run);
  expect_equal_state(replicated(), run);
  expect_measured_as_planned(run);
}

TEST(Shards, go_on_from_checkpoints_of_others) {
  auto const all = of_three().run("all", {"plan.shard=all"});
  expect_equal_state(replicated(), all);
  expect_equal_state(replicated(), of_three().resume("none_of_all", all, 6, {"plan.shard=none"}));
  expect_equal_state(replicated(),
                     of_three().resume("optimizer_of_none", replicated(), 6,
                                       {"plan.shard=optimizer", "plan.optimizer=host"}));
}

// States of other types, and such as have an element for each block of many.
TEST(Shards, change_no_bit_of_any_optimizer) {
  for (std::string const name : {"adamw_8bit", "lion", "sgd"}) {
    Keys const momentum = name == "sgd" ? Keys{"optim.momentum=0.9"} : Keys{};
    Experiment const experiment("shards_" + name, 2, kKeys + Keys{"optim.name=" + name} + momentum);
    auto const none = experiment.run("none", {"plan.shard=none"});
    auto const host = experiment.run(
        "host", Keys{"plan.shard=optimizer", "plan.optimizer=host", "plan.update=host"} + kWatched);
    auto const nvme =
        experiment.run("nvme", Keys{"plan.shard=all", "plan.optimizer=nvme"} + kWatched);
    for (auto const* const run : {&host, &nvme}) {
      ASSERT_FALSE(HasFailure()) << name;
      expect_equal_steps(none, *run);
      expect_equal_state(none, *run);
      expect_measured_as_planned(*run);
    }
    expect_equal_state(none, experiment.resume("all_of_none", none, 6, {"plan.shard=all"}));
    expect_equal_state(none, experiment.resume("none_of_all", nvme, 6, {"plan.shard=none"}));
  }
}

// What is updated whole is on every rank, whoever plans, and checkpoints know nothing of it.
TEST(Shards, leave_out_what_an_optimizer_updates_whole) {
  for (std::string const name : {"adafactor", "muon"}) {
    Experiment const experiment("shards_" + name, 2, kKeys + Keys{"optim.name=" + name});
    auto const none = experiment.run("none", {"plan.shard=none"});
    auto const host =
        experiment.run("host", Keys{"plan.optimizer=host", "plan.update=host"} + kWatched);
    auto const nvme = experiment.run("nvme", Keys{"plan.optimizer=nvme"} + kWatched);
    for (auto const* const run : {&host, &nvme}) {
      ASSERT_FALSE(HasFailure()) << name;
      expect_equal_steps(none, *run);
      expect_equal_state(none, *run);
      expect_measured_as_planned(*run);
    }
    expect_equal_state(none, experiment.resume("of_nvme", nvme, 6, {"plan.optimizer=device"}));
  }
}

// Sums over other ranks have other bits, but the same ones from whatever slices they begin.
TEST(Shards, go_on_with_another_number_of_ranks) {
  auto const of_all = of_three().run("all_for_others", {"plan.shard=all"});
  for (int const ranks : {1, 2, 4}) {
    Experiment const others(fmt::format("shards_to_{}", ranks), ranks, kKeys);
    auto const of_none = others.resume("of_none", replicated(), 6, {"plan.shard=none"});
    auto const resumed = others.resume("of_all", of_all, 6, {"plan.shard=all"});
    ASSERT_FALSE(HasFailure()) << ranks;
    expect_equal_steps(of_none, resumed);
    expect_equal_state(of_none, resumed);
  }
}

std::int64_t device_bytes(Run const& run) {
  return run.peak_bytes("predicted_peak_bytes", "device");
}

// Four ranks of one machine run as if two were on each of two nodes.
class WithinNodes : public ::testing::Test {
 protected:
  WithinNodes() {
    auto const machine = four.directory() / "two_nodes.yaml";
    std::filesystem::copy_file(machine_file(), machine,
                               std::filesystem::copy_options::overwrite_existing);
    std::ofstream(machine, std::ios::app) << "ranks: 2\n";
    of_nodes = {"debug.machine=" + machine.string(), "plan.shard_ranks=node"};
  }

  Experiment four{"shards_of_nodes", 4, kKeys};
  Keys of_nodes;
};

TEST_F(WithinNodes, shards_change_no_bit) {
  auto const none = four.run("none", {"plan.shard=none"});
  // With all else equal, peaks differ by what is shared out alone.
  Keys const shared = {"plan.shard=all",        "plan.group=1",          "plan.parameters=device",
                       "plan.optimizer=device", "plan.gradients=device", "plan.activations=keep",
                       "plan.prefetch=1"};
  auto const all = four.run("all", shared + kWatched);
  auto const nodes = four.run("nodes", shared + of_nodes + kWatched);
  auto const host =
      four.run("host", Keys{"plan.shard=gradients", "plan.optimizer=host", "plan.gradients=host"} +
                           of_nodes + kWatched);
  auto const planned =
      four.run("planned", {of_nodes.front(), "plan.file=" + (nodes.dir / "plan.yaml").string()});
  for (auto const* const run : {&all, &nodes, &host, &planned}) {
    ASSERT_FALSE(HasFailure());
    expect_equal_steps(none, *run);
    expect_equal_state(none, *run);
    expect_measured_as_planned(*run);
  }
  EXPECT_GT(device_bytes(nodes), device_bytes(all));
  EXPECT_EQ(device_bytes(nodes), device_bytes(planned));
  expect_equal_state(none, four.resume("all_of_nodes", nodes, 6, {"plan.shard=all"}));
  expect_equal_state(none, four.resume("nodes_of_all", all, 6, Keys{"plan.shard=all"} + of_nodes));
  Experiment const three("shards_of_nodes_to_three", 3, kKeys);
  expect_equal_state(three.resume("of_none", none, 6, {"plan.shard=none"}),
                     three.resume("of_nodes", nodes, 6, {"plan.shard=all"}));
}

TEST_F(WithinNodes, shards_change_no_bit_where_shares_are_unlike) {
  Keys const uneven = {"batch.share=[2,1,3,1]"};
  auto const none = four.run("uneven_none", Keys{"plan.shard=none"} + uneven);
  auto const nodes =
      four.run("uneven_nodes", Keys{"plan.shard=gradients"} + uneven + of_nodes + kWatched);
  expect_equal_steps(none, nodes);
  expect_equal_state(none, nodes);
  expect_measured_as_planned(nodes);
}

}  // namespace
}  // namespace spillway::test::shards_test
