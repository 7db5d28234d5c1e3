// `spillway plan`: what it prints is what a run then does.
#include <fmt/format.h>

#include <map>

#include "base/process_memory.hpp"
#include "plan_test.hpp"

namespace spillway::test::plan_command_test {
namespace {

class PlanCommand : public PlanTest {};

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
    return spillway("plan " + path("in.yaml") + " --ranks 2 --machine " + kH100 + " " + keys);
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
  EXPECT_NE(text.find("; up to 4 micro-batches"), text.npos) << text;
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
  auto const outcome = spillway("plan " + path("in.yaml") + " --json --machine " + kRtx3090);
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
    auto const outcome = spillway("plan " + path(input) + " --json --machine " + kRtx3090);
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
  auto const plan = "plan " + path("in.yaml") + " --compare --machine " + kRtx3090;
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
  auto begin = text.output.substr(0, text.output.find("\n\n"));
  std::ranges::replace(begin, '\n', ' ');  // the sentence may take several lines
  EXPECT_EQ(begin, json.at("verdict"));
  for (auto const& [name, other] : json.at("alternatives").items()) {
    auto const at = text.output.find("\n  " + name);
    ASSERT_NE(at, std::string::npos) << name << "\n" << text.output;
    auto const line = text.output.substr(at + 1, text.output.find('\n', at + 1) - at);
    EXPECT_EQ(line.find("does not fit") == std::string::npos, other.at("fits").get<bool>()) << line;
  }
  for (auto const* part : {"What 1 GiB more would buy", "  device memory  ", "  host memory    "})
    EXPECT_NE(text.output.find(part), std::string::npos) << part << "\n" << text.output;
}

TEST_F(PlanCommand, tells_programs_of_a_refusal_too) {
  write("in.yaml", "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n");
  auto const plan = [&](std::string const& key) {
    return spillway("plan " + path("in.yaml") + " --machine " + kRtx3090 + " --json " + key +
                    " 2> " + path("said"));
  };
  auto const small = plan("memory.device=64KiB");
  EXPECT_EQ(small.status, 3);
  auto const json = nlohmann::json::parse(small.output);
  EXPECT_EQ(json.at("fits"), false);
  EXPECT_TRUE(says("said", "spillway: " + json.at("why").get<std::string>()));
  EXPECT_EQ(nlohmann::json::parse(plan("").output).at("fits"), true);
}

TEST_F(PlanCommand, says_first_whether_it_fits_and_saves_what_it_found) {
  write("in.yaml", "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n");
  auto const plan = "plan " + path("in.yaml") + " --machine " + kRtx3090;
  auto const outcome = spillway(plan + " --save " + path("plan.yaml"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(outcome.output.starts_with("Fits with ")) << outcome.output;
  EXPECT_TRUE(outcome.output.ends_with("\nwrote " + path("plan.yaml") + "\n")) << outcome.output;
  EXPECT_EQ(spillway("inspect " + path("plan.yaml")).status, 0);
  auto const small = spillway(plan + " memory.device=64KiB");
  EXPECT_EQ(small.status, 3);
  EXPECT_NE(small.output.find("needs at least memory.device="), std::string::npos) << small.output;
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
  EXPECT_NE(small.output.find("spillway: memory.device = 64 KiB: needs at least memory.device="),
            std::string::npos)
      << small.output;
  for (auto const* other : {"memory.host", "memory.nvme"})
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
  auto const there = plan + " --machine " + kRtx3090;
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

}  // namespace
}  // namespace spillway::test::plan_command_test
