// `spillway plan` and `spillway profile`: what they print is what a run then does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/process_memory.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::plan_command_test {
namespace {

std::filesystem::path machine_file() {
  return std::filesystem::path(SPILLWAY_SOURCE_DIR) / "input/machines/rtx3090.yaml";
}

class PlanCommand : public testing::Test {
 protected:
  Outcome spillway(std::string const& arguments) {
    return run_command(spillway_command(0) + " " + arguments);
  }
  std::string path(std::string const& name) const { return (m_dir / name).string(); }
  void write(std::string const& name, std::string const& text) const {
    std::ofstream(m_dir / name) << text;
  }

  bool says(std::string const& name, std::string const& words) const {
    std::stringstream text;
    text << std::ifstream(m_dir / name).rdbuf();
    return text.str().find(words) != std::string::npos;
  }

  std::filesystem::path m_dir = scratch_directory("plan_command");
};

// All ranks of the node together may take what is free.
TEST_F(PlanCommand, does_not_warn_of_a_node_that_its_ranks_do_not_fill) {
  write("in.yaml",
        "model: {layers: 4, hidden: 1024, heads: 16, vocab: 8192}\n"
        "data: {train: /no/such/tokens.h5}\n"
        "batch: {sequences: 256, micro: 1}\n"
        "debug: {machine: " +
            test::machine_file() + "}\n");
  auto const plan = "plan " + path("in.yaml") + " memory.device=1300MiB memory.host=none --json ";
  auto const peak_bytes = [&](Outcome const& outcome) {
    auto const json = nlohmann::json::parse(outcome.output.substr(outcome.output.find('{')));
    return json.at("predicted").at("peak_bytes").at("device").get<double>();
  };
  auto const one = peak_bytes(spillway(plan + "--ranks 2"));
  auto const free_bytes = static_cast<double>(available_memory_bytes());
  auto const ranks = static_cast<int>(0.6 * free_bytes / one);
  if (ranks < 2) GTEST_SKIP() << "two ranks would fill this machine";
  auto const said = spillway(plan + fmt::format("--ranks {}", ranks)).output;
  EXPECT_TRUE(said.starts_with("{"))
      << ranks << " ranks of " << one << " bytes in " << free_bytes << "\n"
      << said.substr(0, 300);
}

// The step is that of the rank with most, and all ranks' tokens count.
TEST_F(PlanCommand, says_what_ranks_run_that_do_not_share_equally) {
  write("in.yaml",
        "model: {layers: 2, hidden: 256, heads: 4, vocab: 1000}\n"
        "data: {train: /no/such/tokens.h5, sequence: 128}\n"
        "batch: {sequences: 12, micro: 2}\n");
  auto const plan = [&](std::string const& keys) {
    return spillway("plan " + path("in.yaml") +
                    " --ranks 2 --machine " SPILLWAY_SOURCE_DIR "/input/machines/h100.yaml " +
                    keys);
  };
  auto const number = [](nlohmann::json const& json, char const* key) {
    return json.at("predicted").at(key).get<double>();
  };
  auto const equal = nlohmann::json::parse(plan("--json").output);
  auto const uneven = nlohmann::json::parse(plan("--json batch.share=[2,1]").output);
  EXPECT_FALSE(equal.at("predicted").contains("micro_batches"));
  EXPECT_EQ(uneven.at("predicted").at("micro_batches"), nlohmann::json({4, 2}));
  EXPECT_GT(number(uneven, "step_s"), 1.2 * number(equal, "step_s"));
  EXPECT_NEAR(number(uneven, "tokens_per_s") * number(uneven, "step_s"), 12 * 128, 1e-3);
  EXPECT_EQ(number(uneven, "empty_share"), 0);
  EXPECT_TRUE(equal.at("sharding").contains("all"));
  EXPECT_FALSE(uneven.at("sharding").contains("all"));
  auto const text = plan("batch.share=[2,1]").output;
  EXPECT_NE(text.find("; up to 4 micro-batches of 256 tokens on each of 2 ranks\n"), text.npos)
      << text;
  EXPECT_NE(text.find("Micro-batches of a step, by rank (batch.share): 4, 2; the plan stays\n"),
            text.npos);
  EXPECT_NE(plan("batch.share=[2,1,1]").output.find("batch.share: a list of 3 for 2 ranks"),
            text.npos);
}

// Neither data nor paths nor MPI are needed for a machine that is not here.
TEST_F(PlanCommand, plans_for_a_machine_that_is_not_there) {
  write("in.yaml",
        "model: {layers: 48, hidden: 4096, heads: 32, vocab: 50257}\n"
        "data: {train: /no/such/tokens.h5}\n"
        "batch: {sequences: 8, micro: 8}\n");
  auto const outcome =
      spillway("plan " + path("in.yaml") + " --json --machine " + machine_file().string());
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  auto const json = nlohmann::json::parse(outcome.output);
  auto const& predicted = json.at("predicted");
  EXPECT_GT(predicted.at("step_s").get<double>(), 1);
  EXPECT_GT(predicted.at("checkpoint_bytes").get<double>(), 12 * 9e9);
  EXPECT_GT(predicted.at("checkpoint_s").get<double>(), 1);
  EXPECT_LE(predicted.at("peak_bytes").at("device").get<double>(), 22.0 * (1ll << 30));
  EXPECT_GT(predicted.at("host_bytes").get<double>(), 50.0 * (1ll << 30));
  EXPECT_TRUE(json.at("verdict").get<std::string>().starts_with("Fits with "));
  EXPECT_GT(json.at("candidates").get<int>(), 10);
  for (auto const key : {"plan", "search_s", "critical_path", "at_peak"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_FALSE(json.contains("one_more_gib"));  // only where it is asked for
  auto const& others = json.at("alternatives");
  EXPECT_EQ(others.size(), 4u);
  EXPECT_FALSE(others.at("all-keep").at("fits").get<bool>());
  EXPECT_GT(others.at("all-keep").at("missing_bytes").at("device").get<double>(), 1ll << 30);
  EXPECT_TRUE(others.at("all-recompute").at("fits").get<bool>());
  for (auto const name : {"all-keep", "all-recompute", "all-host", "all-nvme"}) {
    EXPECT_GT(others.at(name).at("step_s").get<double>(), 1) << name;
    EXPECT_GT(others.at(name).at("peak_bytes").at("device").get<double>(), 1ll << 30) << name;
  }
}

TEST_F(PlanCommand, plans_an_imported_model_as_one_whose_keys_are_given) {
  std::filesystem::create_directories(m_dir / "qwen2");
  std::filesystem::copy_file(SPILLWAY_SOURCE_DIR "/tests/goldens/config_json/qwen2-5.json",
                             m_dir / "qwen2/config.json");
  write("in.yaml", "model: {import: " + path("qwen2") + "}\nbatch: {sequences: 8, micro: 8}\n");
  auto const printed = spillway("--print-config " + path("in.yaml"));
  ASSERT_EQ(printed.status, 0) << printed.output;
  write("printed.yaml", printed.output);
  EXPECT_TRUE(says("printed.yaml", "\n  import: none\n"));
  EXPECT_TRUE(says("printed.yaml", "\n  window_from: 1\n"));
  auto const predicted = [&](std::string const& input) {
    auto const outcome =
        spillway("plan " + path(input) + " --json --machine " + machine_file().string());
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return nlohmann::json::parse(outcome.output).at("predicted");
  };
  EXPECT_EQ(predicted("in.yaml"), predicted("printed.yaml"));
}

// What is said in text and as JSON comes from the same numbers.
TEST_F(PlanCommand, compares_with_other_plans) {
  write("in.yaml",
        "model: {layers: 12, hidden: 256, heads: 4, vocab: 3000}\n"
        "data: {sequence: 256}\n"
        "batch: {sequences: 8, micro: 8}\n"
        "memory: {device: 300MiB, host: 4GiB, nvme: {path: /no/such, size: 4GiB}}\n");
  auto const plan = "plan " + path("in.yaml") + " --compare --machine " + machine_file().string();
  auto const outcome = spillway(plan + " --json");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  auto const json = nlohmann::json::parse(outcome.output);
  for (auto const tier : {"device", "host", "nvme"}) {
    EXPECT_GT(json.at("one_more_gib").at(tier).at("step_s").get<double>(), 0) << tier;
    double bytes = 0;
    for (auto const& part : json.at("at_peak").at(tier)) bytes += part.get<double>();
    EXPECT_EQ(bytes, json.at("predicted").at("peak_bytes").at(tier).get<double>()) << tier;
  }
  double path_s = 0;
  for (auto const& lane : json.at("critical_path"))
    for (auto const& kind : lane) path_s += kind.get<double>();
  auto const step_s = json.at("predicted").at("step_s").get<double>();
  EXPECT_NEAR(path_s, step_s, 1e-6 * step_s);

  auto const text = spillway(plan);
  ASSERT_EQ(text.status, 0) << text.output;
  EXPECT_TRUE(text.output.starts_with(json.at("verdict").get<std::string>() + "\n"));
  for (auto const& [name, other] : json.at("alternatives").items()) {
    auto const at = text.output.find("\n  " + name);
    ASSERT_NE(at, std::string::npos) << name << "\n" << text.output;
    auto const line = text.output.substr(at + 1, text.output.find('\n', at + 1) - at);
    EXPECT_EQ(line.find("does not fit") == std::string::npos, other.at("fits").get<bool>()) << line;
  }
  for (auto const* part : {"What 1 GiB more would buy", "  device memory  ", "  host memory    "})
    EXPECT_NE(text.output.find(part), std::string::npos) << part << "\n" << text.output;
}

TEST_F(PlanCommand, says_first_whether_it_fits_and_saves_what_it_found) {
  write("in.yaml", "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n");
  auto const plan = "plan " + path("in.yaml") + " --machine " + machine_file().string();
  auto const outcome = spillway(plan + " --save " + path("plan.yaml"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(outcome.output.starts_with("Fits with ")) << outcome.output;
  EXPECT_EQ(spillway("inspect " + path("plan.yaml")).status, 0);
  auto const small = spillway(plan + " memory.device=64KiB");
  EXPECT_EQ(small.status, 3);
  EXPECT_NE(small.output.find("needs at least device"), std::string::npos) << small.output;
  EXPECT_EQ(small.output.find("share this node"), std::string::npos) << small.output;
  auto const here = [&](std::string const& ranks) {
    return spillway("plan " + path("in.yaml") + " memory.device=64KiB run.device=cpu " +
                    "debug.machine=" + path("cores.yaml") + " --ranks " + ranks);
  };
  write("cores.yaml", "matmul_gflops: {fp32: 100, bf16: 100}\nmemory_gbps: 10\n");
  auto const two = here("2");
  EXPECT_EQ(two.status, 3) << two.output;
  EXPECT_NE(two.output.find("; here 2 ranks share this node, --machine FILE plans for nodes like"),
            std::string::npos)
      << two.output;
  auto const one = here("1");
  EXPECT_EQ(one.status, 3) << one.output;
  EXPECT_EQ(one.output.find("share this node"), std::string::npos) << one.output;
  // Budgets that are large enough are no part of it.
  EXPECT_NE(small.output.find("spillway: memory.device = 64 KiB: needs at least device "),
            std::string::npos)
      << small.output;
  for (auto const* other : {"memory.host", "memory.nvme", " and host ", " and nvme "})
    EXPECT_EQ(small.output.find(other), std::string::npos) << small.output;
}

TEST_F(PlanCommand, inspect_tells_of_a_plan_with_one_line_for_neighbours_that_are_alike) {
  write("p.yaml", "activations: [nvme, keep, keep]\nupdate: [host, device, device]\nprefetch: 3\n");
  auto const head = "plan " + path("p.yaml") + "\n";
  EXPECT_EQ(spillway("inspect " + path("p.yaml")).output,
            head +
                "  layer 0           nvme\n  layer 1 to 2      keep\n"
                "  chunk 0           host\n  chunk 1 to 2      device\n"
                "  prefetch          3\n");
  write("p.yaml", "activations: keep\n");
  EXPECT_EQ(spillway("inspect " + path("p.yaml")).output,
            head + "  layer 0           keep\n  chunk 0           auto\n");
}

TEST_F(PlanCommand, takes_the_published_vocabulary_where_no_token_file_is) {
  write("in.yaml", "model: {layers: 2, hidden: 64, heads: 2}\ndata: {train: /no/such/*.h5}\n");
  auto const plan = "plan " + path("in.yaml");
  auto const there = plan + " --machine " + machine_file().string();
  for (auto const& [family, vocab] : std::map<std::string, std::string>{
           {"gpt", "50257"}, {"llama", "32000"}, {"bert", "30522"}, {"t5", "32128"}}) {
    auto const outcome = spillway(there + " model.family=" + family);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("model.vocab: no token file is here to take it from; planned "
                                  "with " +
                                  vocab),
              std::string::npos)
        << outcome.output;
    auto const given = spillway(there + " model.family=" + family + " model.vocab=" + vocab);
    EXPECT_NE(outcome.output.find(given.output.substr(0, given.output.find('\n'))),
              std::string::npos)
        << given.output;
  }
  auto const here = spillway(plan);
  EXPECT_EQ(here.status, 2) << here.output;
  EXPECT_NE(here.output.find("no file matches /no/such/*.h5"), std::string::npos) << here.output;
}

TEST_F(PlanCommand, refuses_budgets_above_the_machine_s) {
  write("in.yaml", "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n");
  auto const there = "plan " + path("in.yaml") + " --machine " + machine_file().string();
  for (std::string const key : {"memory.device", "memory.host"}) {
    auto const outcome = spillway(there + " " + key + "=900TB");
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(key + " = 819 TiB: "), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("rtx3090.yaml has "), std::string::npos) << outcome.output;
  }
}

TEST_F(PlanCommand, plans_with_the_machine_file_that_a_run_would) {
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

TEST_F(PlanCommand, refuses_machines_that_cannot_be) {
  write("in.yaml", "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n");
  write("m.yaml", "nvme: {read_gbps: 1, write_gbps: 1, both_gbps: 3}\n");
  auto const plan = "plan " + path("in.yaml") + " --machine ";
  auto const impossible = spillway(plan + path("m.yaml"));
  EXPECT_EQ(impossible.status, 2);
  EXPECT_NE(impossible.output.find("m.yaml:1: nvme.both_gbps: 3 is more than"), std::string::npos);
  EXPECT_EQ(spillway(plan + path("none.yaml")).status, 2);
  write("no_vocab.yaml", "model: {layers: 2}\n");
  auto const open =
      spillway("plan " + path("no_vocab.yaml") + " --machine " + machine_file().string());
  EXPECT_EQ(open.status, 0);  // it is said what is taken instead
  EXPECT_NE(open.output.find("model.vocab"), std::string::npos) << open.output;
}

// What is named fits, and one layer more does not.
TEST_F(PlanCommand, names_the_largest_value_that_fits_and_the_fastest) {
  write("in.yaml",
        "model: {layers: 6, hidden: 256, heads: 4, vocab: 300}\n"
        "data: {sequence: 128}\nbatch: {sequences: 16, micro: 2}\n"
        "memory: {device: 150MiB, host: 80MiB, nvme: none}\n");
  auto const plan =
      "plan " + path("in.yaml") + " --machine " SPILLWAY_SOURCE_DIR "/input/machines/h100.yaml ";
  auto const layers =
      nlohmann::json::parse(spillway(plan + "--json --largest model.layers").output);
  auto const most = layers.at("largest").get<int>();
  ASSERT_LT(most, 64) << "so that it is exact";
  EXPECT_EQ(spillway(plan + fmt::format("model.layers={}", most)).status, 0);
  EXPECT_EQ(spillway(plan + fmt::format("model.layers={}", most + 1)).status, 3);
  for (auto const& one : layers.at("tried")) {
    EXPECT_EQ(one.at("fits"), one.at("value").get<int>() <= most);
    EXPECT_EQ(one.contains("why"), !one.at("fits"));
  }
  auto const micro = spillway(plan + "--largest batch.micro");
  EXPECT_NE(micro.output.find("\nThe largest that fits is batch.micro=16, and the fastest "),
            std::string::npos)
      << micro.output;
  EXPECT_EQ(spillway(plan + "--largest model.layers memory.device=1MiB").status, 3);
  EXPECT_EQ(spillway(plan + "--largest plan.group").status, 2);
  EXPECT_EQ(spillway(plan + "--largest model.layers --compare").status, 2);
}

// Of the machine's tiers the input file need not speak: what --compare suggests can be asked for.
TEST_F(PlanCommand, forces_tiers_that_only_the_machine_file_names) {
  write("in.yaml",
        "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n"
        "data: {sequence: 64}\nbatch: {sequences: 4, micro: 2}\n");
  auto const forced = path("in.yaml") + " plan.activations=nvme plan.optimizer=host";
  auto const other = spillway("plan " + forced + " --machine " + machine_file().string());
  EXPECT_EQ(other.status, 0) << other.output;
  auto const here = spillway("plan " + forced);
  EXPECT_EQ(here.status, 2);
  EXPECT_NE(here.output.find("nvme needs memory.nvme"), std::string::npos) << here.output;
}

// `none` is not the machine's share, and a size is that size.
TEST_F(PlanCommand, leaves_alone_the_tiers_that_are_none_and_keeps_to_sizes) {
  write("small.yaml",
        "model: {layers: 12, hidden: 2048, heads: 32, vocab: 50257}\n"
        "batch: {sequences: 8, micro: 8}\nmemory: {device: 12GiB}\n");
  write("large.yaml",
        "model: {layers: 48, hidden: 4096, heads: 32, vocab: 50257}\n"
        "batch: {sequences: 8, micro: 8}\nmemory: {host: 80GiB}\n");
  auto const plan = [&](std::string const& arguments) {
    return spillway("plan --json --machine " + machine_file().string() + " " + m_dir.string() +
                    "/" + arguments);
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

TEST_F(PlanCommand, plans_for_the_machine_it_is_on) {
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
TEST_F(PlanCommand, counts_the_threads_of_the_host_lane) {
  write("in.yaml",
        "model: {layers: 12, hidden: 2048, heads: 32, vocab: 50257}\n"
        "batch: {sequences: 8, micro: 8}\nplan: {optimizer: host, update: host}\n");
  auto const step_s = [&](std::string const& more) {
    auto const plan = "plan " + path("in.yaml") + " --json --machine " + machine_file().string();
    auto const outcome = spillway(plan + " --ranks 4" + more);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return nlohmann::json::parse(outcome.output).at("predicted").at("step_s").get<double>();
  };
  EXPECT_EQ(step_s(""), step_s(" run.host_threads=3")) << "as the file says";
  EXPECT_GT(step_s(" run.host_threads=1"), 1.15 * step_s(""));
}

// A profile of this machine is a machine file, with the ops of the model.
TEST_F(PlanCommand, profile_writes_a_machine_to_plan_for) {
  write_token_file(m_dir / "tokens.h5", 5000);
  write("in.yaml", "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\ndata: {train: " +
                       path("tokens.h5") + ", sequence: 64}\nbatch: {sequences: 4, micro: 2}\n");
  auto const profiled = spillway("profile " + path("in.yaml") + " -o " + path("here.yaml"));
  ASSERT_EQ(profiled.status, 0) << profiled.output;
  EXPECT_NE(profiled.output.find(" GFLOP/s in bf16, 0 in fp32, "), std::string::npos)
      << profiled.output;
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
}  // namespace spillway::test::plan_command_test
