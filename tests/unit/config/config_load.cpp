// What the values of a file and overrides make of a config.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/difference.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "tests/unit/config/config_errors.hpp"

namespace spillway::config_load_test {
namespace {

using test::override_error, test::Overrides;

TEST(ConfigLoad, values_of_the_file_are_used_and_the_rest_is_default) {
  auto const c = parse_config(
      "model: {heads: 4, hidden: 64}\nprecision: fp32\nmemory:\n  device: 8GiB\n"
      "  nvme: {path: /scratch, size: 1.5GB}\nplan: {activations: [keep, nvme]}\n"
      "run: {max_time: 3h50m, checkpoint: {every: 5}, threads: auto}\ndata: {train: [a, 'b*']}\n",
      "in.yaml");
  EXPECT_EQ(c.model.heads, 4);
  EXPECT_EQ(c.model.layers, 12);
  EXPECT_EQ(c.precision, Precision::fp32);
  EXPECT_EQ(c.memory.device_bytes, 8ll << 30);
  EXPECT_EQ(c.memory.nvme_paths, std::vector<std::string>{"/scratch"});
  EXPECT_EQ(c.memory.nvme_bytes, 1'500'000'000);
  EXPECT_EQ(texts(c.plan.activations), (std::vector<std::string>{"keep", "nvme"}));
  EXPECT_EQ(c.run.max_time_s, 13800);
  EXPECT_EQ(c.run.checkpoint.every, 5);
  EXPECT_EQ(c.run.checkpoint.keep, 3);
  EXPECT_FALSE(c.run.threads);
  EXPECT_EQ(c.data.train, (std::vector<std::string>{"a", "b*"}));
}

TEST(ConfigLoad, the_last_override_wins_and_lists_and_groups_are_yaml) {
  auto const c = parse_config(
      "batch: {sequences: 8}\nmemory: {nvme: {path: /a, size: 1GiB}}\n", "in.yaml",
      Overrides{"batch.sequences=16", "batch.sequences=4", "batch.micro=2", "batch.micro=auto",
                "plan.activations=[keep, recompute]", "run.checkpoint={every: 7, keep: 1}",
                "memory.nvme=none", "run.dir=a=b"});
  EXPECT_EQ(c.batch.sequences, 4);
  EXPECT_FALSE(c.batch.micro);
  EXPECT_EQ(texts(c.plan.activations), (std::vector<std::string>{"keep", "recompute"}));
  EXPECT_EQ(c.run.checkpoint.every, 7);
  EXPECT_EQ(c.run.checkpoint.keep, 1);
  EXPECT_EQ(c.memory.nvme_paths, std::vector<std::string>());
  EXPECT_EQ(c.memory.nvme_bytes, 0);
  EXPECT_EQ(c.run.dir, "a=b");
}

TEST(ConfigLoad, tiers_are_auto_none_or_a_size) {
  auto const memory = [](std::string const& text, Overrides const& overrides = {}) {
    return parse_config(text, "in.yaml", overrides).memory;
  };
  for (auto const* text : {"model: {}", "memory: {host: auto, nvme: auto}",
                           "memory: {nvme: {path: auto, size: auto}}"}) {
    auto const automatic = memory(text);
    EXPECT_FALSE(automatic.host_bytes) << text;
    EXPECT_FALSE(automatic.nvme_paths || automatic.nvme_bytes) << text;
    EXPECT_FALSE(automatic.nvme_is_none()) << text;
    EXPECT_EQ(automatic.host_bytes_here(), 0) << text;
    EXPECT_FALSE(automatic.has_nvme_here()) << text;
  }
  auto const none = memory("memory: {host: none, nvme: none}");
  EXPECT_EQ(none.host_bytes, 0);
  EXPECT_TRUE(none.nvme_is_none());
  EXPECT_TRUE(memory("memory: {nvme: {path: none}}").nvme_is_none());
  EXPECT_TRUE(memory("memory: {nvme: {size: none}}").nvme_is_none());
  auto const given = "memory: {host: 1GiB, nvme: {path: /a, size: 2GiB}}";
  EXPECT_EQ(memory(given).host_bytes_here(), 1ll << 30);
  EXPECT_EQ(memory(given).nvme_paths_here(), std::vector<std::string>{"/a"});
  EXPECT_EQ(memory(given).nvme_bytes_here(), 2ll << 30);
  EXPECT_EQ(memory(given, {"memory.nvme.path=[/b, /c]"}).nvme_paths_here(),
            (std::vector<std::string>{"/b", "/c"}));
  auto const open = memory(given, {"memory.host=auto", "memory.nvme=auto"});
  EXPECT_FALSE(open.host_bytes || open.nvme_paths || open.nvme_bytes);
  EXPECT_EQ(override_error("memory.nvme=some"),
            "command line: memory.nvme: expected a map of keys, got 'some'; say "
            "memory.nvme.path=some");
}

TEST(ConfigLoad, a_group_is_switched_off_with_all_that_it_says) {
  auto const file = "model: {lora: {rank: 16, alpha: 32, targets: [q], dropout: 0.1}}\n";
  std::vector<std::string> const off = {"model.lora=none"},
                                 again = {"model.lora=none", "model.lora.rank=4"};
  auto const lora = parse_config(file, "in.yaml", off).model.lora;
  EXPECT_TRUE(lora.rank == 0 && lora.alpha == 0 && lora.targets.empty() && lora.dropout == 0);
  EXPECT_EQ(parse_config(file, "in.yaml", again).model.lora.rank, 4);
}

TEST(ConfigLoad, a_group_left_empty_keeps_its_defaults) {
  EXPECT_EQ(parse_config("model:\n  # layers: 3\nrun: {steps: 1}\n", "in.yaml").model.layers, 12);
}

TEST(ConfigLoad, two_configs_differ_in_their_keys) {
  auto before = parse_config("data: {train: a}\n", "in.yaml"), now = before;
  EXPECT_TRUE(differences(before, now).empty());
  now.optim.lr = 5e-4;
  now.run.threads = 3;
  now.data.train = {"a", "b"};
  now.model.rope_theta = 1;   // not of this family
  now.run.dir = "elsewhere";  // where and how long this job works
  now.run.max_time_s = 60;
  now.memory.nvme_paths = std::vector<std::string>{"elsewhere/too"};
  EXPECT_EQ(differences(before, now),
            (std::vector<std::string>{"data.train a -> [a, b]", "optim.lr 0.0006 -> 0.0005",
                                      "run.threads auto -> 3"}));
}

// What the shell has quoted is not parsed again.
TEST(ConfigLoad, an_override_is_the_text_that_it_is) {
  auto const given = [](std::string const& text) {
    return parse_config("model: {}", "in.yaml", Overrides{text});
  };
  for (std::string const path :
       {"runs/a #b", "a\nb", "a: b", "'quoted'", "*.h5", "&a", "[a, b]", "{a: b}", "null", " a ",
        "a\tb", "- a", "!x", "%a", "@b", "# c", "a\\nb", "yes"}) {
    EXPECT_EQ(given("run.dir=" + path).run.dir, path);
    EXPECT_EQ(given("run.init=" + path).run.init, path);
    auto const written = parse_config(to_yaml(given("run.dir=" + path)), "config.yaml");
    EXPECT_EQ(written.run.dir, path);
    if (path != "[a, b]") {
      EXPECT_EQ(given("data.train=" + path).data.train, std::vector<std::string>{path});
    }
  }
  EXPECT_EQ(given("data.train=[a 'b, \"c #d\"]").data.train,
            (std::vector<std::string>{"a 'b", "c #d"}));
  EXPECT_EQ(given("data.train=[a].h5").data.train, std::vector<std::string>{"[a].h5"});
  EXPECT_TRUE(given("data.valid=none").data.valid.empty());
  EXPECT_EQ(given("run.init=none").run.init, "");
  // A comment is no part of a number or of a word either.
  EXPECT_EQ(override_error("run.steps=800 # or more"),
            "command line: run.steps: expected an integer, got '800 # or more'");
  EXPECT_EQ(override_error("optim.name=adamw # mine").find("command line: optim.name: 'adamw # m"),
            0u);
}

}  // namespace
}  // namespace spillway::config_load_test
