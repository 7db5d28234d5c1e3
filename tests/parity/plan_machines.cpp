// The machines of `spillway plan`: files, this machine, and what `spillway profile` writes.
#include <fmt/format.h>

#include "plan_test.hpp"

namespace spillway::test::plan_machines_test {
namespace {

class PlanMachines : public PlanTest {};

TEST_F(PlanMachines, refuses_budgets_above_the_machine_s) {
  write("in.yaml", "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n");
  auto const there = "plan " + path("in.yaml") + " --machine " + kRtx3090;
  for (std::string const key : {"memory.device", "memory.host"}) {
    auto const outcome = spillway(there + " " + key + "=900TB");
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(key + " = 819 TiB: "), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("rtx3090.yaml has "), std::string::npos) << outcome.output;
  }
}

TEST_F(PlanMachines, plans_with_the_machine_file_that_a_run_would) {
  write("in.yaml",
        "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\nmemory: {device: 1GiB}\n");
  auto const plan = "plan " + path("in.yaml") + " --json debug.machine=";
  auto const none = spillway(plan + path("none.yaml"));
  EXPECT_EQ(none.status, 2) << none.output;
  EXPECT_NE(none.output.find("none.yaml: cannot be read"), std::string::npos) << none.output;
  auto const step_s = [&](std::string const& gflops) {
    write("m.yaml",
          "matmul_gflops: {fp32: " + gflops + ", bf16: " + gflops + "}\nmemory_gbps: 1000\n");
    auto const outcome = spillway(plan + path("m.yaml") + " run.device=cpu");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return nlohmann::json::parse(outcome.output).at("predicted").at("step_s").get<double>();
  };
  EXPECT_GT(step_s("1"), 10 * step_s("1000"));
}

TEST_F(PlanMachines, refuses_machines_that_cannot_be) {
  write("in.yaml", "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n");
  write("m.yaml", "nvme: {read_gbps: 1, write_gbps: 1, both_gbps: 3}\n");
  auto const plan = "plan " + path("in.yaml") + " --machine ";
  auto const impossible = spillway(plan + path("m.yaml"));
  EXPECT_EQ(impossible.status, 2);
  EXPECT_NE(impossible.output.find("m.yaml:1: nvme.both_gbps: 3 is more than"), std::string::npos);
  EXPECT_EQ(spillway(plan + path("none.yaml")).status, 2);
  write("no_vocab.yaml", "model: {layers: 2}\n");
  auto const open = spillway("plan " + path("no_vocab.yaml") + " --machine " + kRtx3090);
  EXPECT_EQ(open.status, 0);  // it is said what is taken instead
  EXPECT_NE(open.output.find("model.vocab"), std::string::npos) << open.output;
}

// Of the machine's tiers the input file need not speak: what --compare suggests can be asked for.
TEST_F(PlanMachines, forces_tiers_that_only_the_machine_file_names) {
  write("in.yaml",
        "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n"
        "data: {sequence: 64}\nbatch: {sequences: 4, micro: 2}\n");
  auto const forced = path("in.yaml") + " plan.activations=nvme plan.optimizer=host";
  auto const other = spillway("plan " + forced + " --machine " + kRtx3090);
  EXPECT_EQ(other.status, 0) << other.output;
  auto const here = spillway("plan " + forced);
  EXPECT_EQ(here.status, 2);
  EXPECT_NE(here.output.find("nvme needs memory.nvme"), std::string::npos) << here.output;
}

// `none` is not the machine's share, and a size is that size.
TEST_F(PlanMachines, leaves_alone_the_tiers_that_are_none_and_keeps_to_sizes) {
  write("small.yaml",
        "model: {layers: 12, hidden: 2048, heads: 32, vocab: 50257}\n"
        "batch: {sequences: 8, micro: 8}\nmemory: {device: 12GiB}\n");
  write("large.yaml",
        "model: {layers: 48, hidden: 4096, heads: 32, vocab: 50257}\n"
        "batch: {sequences: 8, micro: 8}\nmemory: {host: 80GiB}\n");
  auto const plan = [&](std::string const& arguments) {
    return spillway("plan --json --machine " + kRtx3090 + " " + m_dir.string() + "/" + arguments);
  };
  auto const peak = [&](std::string const& tier, std::string const& arguments) {
    auto const outcome = plan(arguments);
    if (outcome.status != 0) return -1.0;
    auto const json = nlohmann::json::parse(outcome.output);
    return json.at("predicted").at("peak_bytes").at(tier).get<double>();
  };
  double const gib = 1ll << 30;
  EXPECT_GT(peak("host", "small.yaml"), 2 * gib);
  EXPECT_EQ(peak("host", "small.yaml memory.host=auto"), peak("host", "small.yaml"));
  auto const of_batches = peak("host", "small.yaml memory.host=none");  // and of scalars
  EXPECT_GT(of_batches, 0);
  EXPECT_LT(of_batches, gib / 1024);
  EXPECT_GT(peak("host", "small.yaml memory.host=2GiB"), 0);
  EXPECT_LE(peak("host", "small.yaml memory.host=2GiB"), 2 * gib);
  EXPECT_GT(peak("nvme", "large.yaml"), 10 * gib);
  EXPECT_EQ(plan("large.yaml memory.nvme=none").status, 3);
  auto const forced = plan("small.yaml memory.nvme=none plan.activations=nvme");
  EXPECT_EQ(forced.status, 2) << forced.output;
  EXPECT_NE(forced.output.find("nvme needs memory.nvme"), std::string::npos) << forced.output;
}

TEST_F(PlanMachines, plans_for_the_machine_it_is_on) {
  write("in.yaml",
        "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n"
        "data: {train: /no/such/tokens.h5, sequence: 64}\n"
        "batch: {sequences: 4, micro: 2}\n"
        "memory: {device: 16MiB}\n");
  auto const outcome = spillway("plan " + path("in.yaml") + " --ranks 2 --json");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  // What was measured is said before, on stderr.
  auto const json = nlohmann::json::parse(outcome.output.substr(outcome.output.find('{')));
  EXPECT_GT(json.at("predicted").at("step_s").get<double>(), 0);
  EXPECT_TRUE(json.at("critical_path").contains("compute"));
  // Nor how fast ranks talk; what sharding needs is known all the same.
  auto const& sharding = json.at("sharding");
  ASSERT_EQ(sharding.size(), 4);
  EXPECT_TRUE(sharding.at("all").at("step_s").is_null());
  EXPECT_LT(sharding.at("all").at("peak_bytes").at("device").get<double>(),
            sharding.at("none").at("peak_bytes").at("device").get<double>());
  // Nobody knows how fast a drive is that was not named.
  EXPECT_FALSE(json.at("alternatives").at("all-nvme").at("fits").get<bool>());
  EXPECT_TRUE(json.at("alternatives").at("all-nvme").at("step_s").is_null());
}

// Updates on the host are as fast as its threads, which the machine file or the input says.
TEST_F(PlanMachines, counts_the_threads_of_the_host_lane) {
  write("in.yaml",
        "model: {layers: 12, hidden: 2048, heads: 32, vocab: 50257}\n"
        "batch: {sequences: 8, micro: 8}\nplan: {optimizer: host, update: host}\n");
  auto const step_s = [&](std::string const& more) {
    auto const plan = "plan " + path("in.yaml") + " --json --machine " + kRtx3090;
    auto const outcome = spillway(plan + " --ranks 4" + more);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return nlohmann::json::parse(outcome.output).at("predicted").at("step_s").get<double>();
  };
  EXPECT_EQ(step_s(""), step_s(" run.host_threads=3")) << "as the file says";
  EXPECT_GT(step_s(" run.host_threads=1"), 1.15 * step_s(""));
}

// A profile of this machine is a machine file, with the ops of the model.
TEST_F(PlanMachines, profile_writes_a_machine_to_plan_for) {
  write_token_file(m_dir / "tokens.h5", 5000);
  write("in.yaml", "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\ndata: {train: " +
                       path("tokens.h5") + ", sequence: 64}\nbatch: {sequences: 4, micro: 2}\n");
  auto const profiled = spillway("profile " + path("in.yaml") + " -o " + path("here.yaml"));
  ASSERT_EQ(profiled.status, 0) << profiled.output;
  EXPECT_NE(profiled.output.find(" GFLOP/s in bf16, "), std::string::npos) << profiled.output;
  EXPECT_EQ(profiled.output.find("in fp32"), std::string::npos) << "what was not measured";
  auto const outcome =
      spillway("plan " + path("in.yaml") + " --json --machine " + path("here.yaml"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_GT(nlohmann::json::parse(outcome.output).at("predicted").at("step_s").get<double>(), 0);
  EXPECT_TRUE(says("here.yaml", "\n  host: 1\n"));
  auto const two = spillway("profile " + path("in.yaml") + " run.host_threads=2 memory.nvme.path=" +
                            m_dir.string() + " memory.nvme.size=64MiB -o " + path("two.yaml"));
  ASSERT_EQ(two.status, 0) << two.output;
  EXPECT_TRUE(says("two.yaml", "\n  host: 2\n"));
  // Of a drive it says which one, how much room it has and how fast it is.
  for (auto const& [file, has_drive] : {std::pair("here.yaml", false), {"two.yaml", true}}) {
    EXPECT_EQ(says(file, "\n  drive: "), has_drive) << file;
    EXPECT_EQ(says(file, "\n  nvme: unknown\n"), !has_drive) << file;
    EXPECT_EQ(says(file, "\n  write_gbps: unknown\n"), !has_drive) << file;
  }
}

}  // namespace
}  // namespace spillway::test::plan_machines_test
