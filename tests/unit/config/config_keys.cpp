#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "config/keys.hpp"
#include "config/load.hpp"
#include "config/print.hpp"

namespace spillway::config_keys_test {
namespace {

DataConfig unusual_data() {
  using enum ChangedData;
  using enum Objective;
  return {{"a b/*.h5", "$x, y.bin", "null"},
          {"*.h5"},
          {2.5, 1, 0.125},
          anew,
          77,
          true,
          spans,
          9,
          1,
          2,
          3,
          200};
}

OptimConfig unusual_optim() {
  using enum Precision;
  OptimConfig o{Optimizer::adamw, 1.0 / 3, 0, 0.01, 0.8, 0.999, 1e-12};
  o.clip = 0;
  o.warmup = 0;
  o.schedule = Schedule::linear;
  o.decay_all = o.decay_embeddings = true;
  o.moments = bf16;
  o.gradients = fp32;
  o.reduction = Reduction::each;
  o.non_finite = NonFinite::skip;
  return o;
}

// Every key away from its default.
Config unusual() {
  Config c;
  c.model = {.family = Family::llama,
             .layers = 3,
             .hidden = 96,
             .heads = 6,
             .kv_heads = 2,
             .head_size = 18,
             .ffn = 200,
             .vocab = 1000,
             .tied = false,
             .qkv_bias = true,
             .qk_norm = true,
             .rope_theta = 5e5,
             .rope_scaling = RopeScaling::llama3,
             .rope_factor = 8,
             .rope_low_freq_factor = 2,
             .rope_high_freq_factor = 5,
             .rope_original_positions = 99,
             .window = 7,
             .window_from = 1,
             .dropout = 0.125,
             .attention_dropout = 0.25,
             .norm_eps = 1e-7};
  c.data = unusual_data();
  c.batch = {24, 3, {3, 1, 2}, 11};
  c.optim = unusual_optim();
  c.precision = Precision::fp32;
  c.memory = {123'456'789, 5ll << 30, std::vector<std::string>{"/scratch/\"me\"", "/b, $c"},
              7ll << 30};
  c.plan = {{{BlockPlan{BlockPolicy::keep, 1}, BlockPlan{BlockPolicy::nvme, 0.25}, std::nullopt},
             {Tier::nvme},
             {Tier::host},
             {Tier::device, Tier::nvme},
             {Tier::host, std::nullopt},
             {Shard::gradients, std::nullopt},
             ShardRanks::all,
             4},
            false,
            ""};
  c.run.steps = 9;
  c.run.seed = ~0ull;
  c.run.threads = 5;
  c.run.host_threads = 6;
  c.run.dir = "runs/#1: x";
  c.run.init = "old/";
  c.run.max_time_s = 13800.5;
  c.run.checkpoint = {0, 1.5, 7, Resume::never};
  c.run.eval_every = 0;
  c.run.eval_batches = 3;
  c.run.log_every = 1;
  c.run.trace = {2, 7};
  c.spill = {7, false};
  c.debug = {true, true, Backend::posix, KernelSet::portable, "storage-read:3", "m.yaml"};
  return c;
}

TEST(ConfigKeys, names_are_distinct_and_no_later_key_is_offered) {
  Config config;
  std::set<std::string_view> names;
  for (auto const& key : keys_of(config)) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_TRUE(key.doc.ends_with('.')) << key.name;
  }
  for (auto const later : later_keys()) EXPECT_FALSE(names.contains(later)) << later;
}

TEST(ConfigKeys, every_key_of_the_table_changes_its_own_field_only) {
  auto changed = unusual();
  Config defaults;
  auto const from = keys_of(changed);
  for (std::size_t i = 0; i < from.size(); ++i) {
    Config config;
    auto const keys = keys_of(config);
    if (write_key(from[i]) == write_key(keys[i])) continue;  // family, optim.name, ...
    auto const yaml = parse_yaml(write_key(from[i]), "in.yaml");
    read_key(keys[i], yaml, {});
    for (std::size_t j = 0; j < keys.size(); ++j) {
      auto const expected = write_key(i == j ? from[j] : keys_of(defaults)[j]);
      EXPECT_EQ(write_key(keys[j]), expected) << keys[i].name << " changed " << keys[j].name;
    }
  }
}

TEST(ConfigKeys, what_is_written_loads_to_the_same_config) {
  for (auto const& config : {Config{}, unusual()}) {
    auto const yaml = to_yaml(config);
    auto const again = parse_config(yaml, "config.yaml");
    EXPECT_EQ(to_yaml(again), yaml);
  }
  auto const again = parse_config(to_yaml(unusual()), "config.yaml");
  EXPECT_EQ(again.data.train, unusual().data.train);
  EXPECT_EQ(again.optim.lr, unusual().optim.lr);
  EXPECT_EQ(again.run.seed, unusual().run.seed);
  EXPECT_EQ(again.run.max_time_s, unusual().run.max_time_s);
  EXPECT_EQ(again.memory.nvme_paths, unusual().memory.nvme_paths);
  EXPECT_EQ(again.plan.activations, unusual().plan.activations);
  EXPECT_EQ(again.precision, Precision::fp32);
}

TEST(ConfigKeys, unset_values_stay_unset) {
  auto const again = parse_config(to_yaml(Config{}), "config.yaml");
  EXPECT_FALSE(again.batch.micro);
  EXPECT_FALSE(again.memory.device_bytes);
  EXPECT_FALSE(again.plan.prefetch);
  EXPECT_FALSE(again.run.threads);
  EXPECT_FALSE(again.run.host_threads);
  EXPECT_FALSE(again.run.max_time_s);
  EXPECT_FALSE(again.run.checkpoint.minutes);
  EXPECT_FALSE(again.memory.host_bytes);
  EXPECT_FALSE(again.memory.nvme_paths);
  EXPECT_FALSE(again.memory.nvme_bytes);
  EXPECT_TRUE(again.data.train.empty());
}

// None is not auto: the one stays none on a machine that has the tier.
TEST(ConfigKeys, none_stays_none) {
  Config config;
  config.memory = {{}, 0, std::vector<std::string>(), 0};
  for (auto const& text : {to_yaml(config), print_config(config)}) {
    EXPECT_NE(text.find("host: none\n"), text.npos) << text;
    auto const again = parse_config(text, "config.yaml").memory;
    EXPECT_EQ(again.host_bytes, 0);
    EXPECT_EQ(again.nvme_paths, std::vector<std::string>());
    EXPECT_EQ(again.nvme_bytes, 0);
  }
}

TEST(ConfigKeys, auto_stays_auto_where_the_default_is_none) {
  Config config;
  config.run.max_time_s = 0;
  for (auto const& text : {to_yaml(config), print_config(config)}) {
    EXPECT_NE(text.find("max_time: auto\n"), text.npos) << text;
    EXPECT_EQ(parse_config(text, "config.yaml").run.max_time_s, 0);
  }
}

TEST(ConfigKeys, the_printed_config_names_every_key_and_loads_too) {
  auto const text = print_config(unusual());
  EXPECT_EQ(to_yaml(parse_config(text, "printed.yaml")), to_yaml(unusual()));
  EXPECT_NE(text.find("[integer, 1\n  # to 5000; in blocks; default 12]\n  layers: 3\n"), text.npos)
      << text;
}

// Of what is printed: each part of the comment before a key.
TEST(ConfigKeys, the_printed_config_says_what_a_key_is) {
  auto config = unusual();
  auto const text = print_config(config);
  for (auto const* lines :
       {"  # Width of a head; auto (0): hidden / heads. Of llama, t5. [integer, 0 to\n"
        "  # 100000; or auto; default auto]\n  head_size: 18\n",
        "    # Between checkpoints; 0: only at the end. [integer, 0 to 1000000000000; in\n"
        "    # steps; default 1000]\n    every: 0\n",
        "# Of weights and activations; sums are fp32 in both. [bf16 | fp32; default bf16]\n"
        "precision: fp32\n",
        "    # Budget of the spill file, over all its drives, which takes 16 MiB more for\n"
        "    # pieces that must move; given with the path. [size, 4KiB to 1000PB; or\n"
        "    # none; or auto; in bytes per rank; default auto]\n    size: 7GiB\n"})
    EXPECT_NE(text.find(lines), text.npos) << lines;
}

// To write the reference anew: SPILLWAY_WRITE_DOCS=1 build/bin/test_config
TEST(ConfigKeys, the_committed_reference_is_current) {
  std::string const path = SPILLWAY_SOURCE_DIR "/docs/keys.md";
  if (std::getenv("SPILLWAY_WRITE_DOCS")) std::ofstream(path) << keys_markdown();
  std::ostringstream committed;
  committed << std::ifstream(path).rdbuf();
  EXPECT_EQ(committed.str(), keys_markdown());
}

TEST(ConfigKeys, the_input_files_of_the_program_load) {
  int loaded = 0;
  for (auto const& file : std::filesystem::directory_iterator(SPILLWAY_SOURCE_DIR "/input")) {
    if (file.path().extension() != ".yaml") continue;
    EXPECT_NO_THROW(load_config(file.path().string()));
    ++loaded;
  }
  EXPECT_GE(loaded, 1);
}

}  // namespace
}  // namespace spillway::config_keys_test
