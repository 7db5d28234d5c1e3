#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "config/difference.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::config_load_test {
namespace {

using Overrides = std::vector<std::string>;

// The one line that `act` ends with.
template <class Act>
std::string error_line(Act act) {
  return test::refused_with(act);
}

std::string file_error(std::string const& text) {
  return error_line([&] { parse_config(text, "in.yaml"); });
}

std::string override_error(std::string const& text) {
  return error_line([&] { parse_config("model: {}", "in.yaml", Overrides{text}); });
}

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
  EXPECT_EQ(c.memory.nvme_path, "/scratch");
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
  EXPECT_EQ(c.memory.nvme_path, "");
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
    EXPECT_FALSE(automatic.nvme_path || automatic.nvme_bytes) << text;
    EXPECT_FALSE(automatic.nvme_is_none()) << text;
    EXPECT_EQ(automatic.host_bytes_here(), 0) << text;
    EXPECT_EQ(automatic.nvme_path_here(), "") << text;
  }
  auto const none = memory("memory: {host: none, nvme: none}");
  EXPECT_EQ(none.host_bytes, 0);
  EXPECT_TRUE(none.nvme_is_none());
  EXPECT_TRUE(memory("memory: {nvme: {path: none}}").nvme_is_none());
  EXPECT_TRUE(memory("memory: {nvme: {size: none}}").nvme_is_none());
  auto const given = "memory: {host: 1GiB, nvme: {path: /a, size: 2GiB}}";
  EXPECT_EQ(memory(given).host_bytes_here(), 1ll << 30);
  EXPECT_EQ(memory(given).nvme_path_here(), "/a");
  EXPECT_EQ(memory(given).nvme_bytes_here(), 2ll << 30);
  auto const open = memory(given, {"memory.host=auto", "memory.nvme=auto"});
  EXPECT_FALSE(open.host_bytes || open.nvme_path || open.nvme_bytes);
  EXPECT_EQ(override_error("memory.nvme=some"),
            "command line: memory.nvme: expected a map of keys, got 'some'");
}

TEST(ConfigLoad, a_group_left_empty_keeps_its_defaults) {
  EXPECT_EQ(parse_config("model:\n  # layers: 3\nrun: {steps: 1}\n", "in.yaml").model.layers, 12);
}

TEST(ConfigLoad, a_run_is_named_by_its_input_file) {
  auto const file = std::filesystem::path(::testing::TempDir()) / "small.gpt.yaml";
  std::ofstream(file) << "model: {heads: 4, hidden: 64}\n";
  EXPECT_EQ(load_config(file).run.dir, "runs/small.gpt");
  EXPECT_EQ(load_config(file, Overrides{"run.dir=here"}).run.dir, "here");
  EXPECT_EQ(parse_config("run: {dir: auto}\n", "in.yaml").run.dir, "");
  EXPECT_EQ(override_error("model.import=hf"),
            "command line: model.import: is for input files; a configuration that was written has "
            "the model itself");
}

// The shell's <(...) has a name that says nothing.
TEST(ConfigLoad, a_run_whose_input_has_no_name_is_named_so) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "run: {steps: 7}", 15), 15);
  ::close(ends[1]);
  auto const config = load_config("/proc/self/fd/" + std::to_string(ends[0]));
  ::close(ends[0]);
  EXPECT_EQ(config.run.steps, 7);
  EXPECT_EQ(config.run.dir, "runs/stdin");
}

TEST(ConfigLoad, a_run_whose_input_is_a_descriptor_is_named_so) {
  if (!std::filesystem::exists("/dev/fd")) GTEST_SKIP() << "no /dev/fd here";
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "run: {steps: 8}", 15), 15);
  ::close(ends[1]);
  auto const config = load_config("/dev/fd/" + std::to_string(ends[0]));
  ::close(ends[0]);
  EXPECT_EQ(config.run.steps, 8);
  EXPECT_EQ(config.run.dir, "runs/stdin");
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
  now.memory.nvme_path = "elsewhere/too";
  EXPECT_EQ(differences(before, now),
            (std::vector<std::string>{"data.train a -> [a, b]", "optim.lr 0.0006 -> 0.0005",
                                      "run.threads auto -> 3"}));
}

TEST(ConfigLoad, variables_in_paths_are_expanded) {
  setenv("SPILLWAY_TEST_DIR", "/some/where", 1);
  unsetenv("SPILLWAY_TEST_NONE");
  auto const c = parse_config(
      "run: {dir: $SPILLWAY_TEST_DIR/x, init: 'a$$b'}\ndata: {train: '${SPILLWAY_TEST_DIR}y'}\n",
      "in.yaml");
  EXPECT_EQ(c.run.dir, "/some/where/x");
  EXPECT_EQ(c.run.init, "a$b");
  EXPECT_EQ(c.data.train[0], "/some/wherey");
  EXPECT_EQ(file_error("run:\n  dir: $SPILLWAY_TEST_NONE/x\n"),
            "in.yaml:2: run.dir: the environment variable $SPILLWAY_TEST_NONE is not set");
  EXPECT_EQ(file_error("run:\n  dir: a$/x\n"),
            "in.yaml:2: run.dir: '$' without a variable's name in 'a$/x'");
  EXPECT_EQ(file_error("run:\n  dir: ${A/x\n"),
            "in.yaml:2: run.dir: '$' without a variable's name in '${A/x'");
}

TEST(ConfigLoad, names_of_variables_end_before_what_no_name_has) {
  setenv("spillway_Test_09z", "there", 1);
  auto const given = [](std::string const& text) {
    return parse_config("model: {}", "in.yaml", Overrides{"run.dir=" + text}).run.dir;
  };
  for (std::string const behind : {"/x", "-x", ".x", "{x", " x", "\xc3\xa4", "$$x", ""}) {
    auto const expected = behind == "$$x" ? "$x" : behind;
    EXPECT_EQ(given("a/$spillway_Test_09z" + behind), "a/there" + expected);
    EXPECT_EQ(given("${spillway_Test_09z}" + behind), "there" + expected);
  }
  EXPECT_EQ(given("$spillway_Test_09z$spillway_Test_09z"), "therethere");
  EXPECT_EQ(given("${spillway_Test_09z}9z}"), "there9z}");
  for (std::string const text : {"a$", "${}", "${spillway_Test_09z", "${spillway_Test-09z}"})
    EXPECT_EQ(override_error("run.dir=" + text),
              "command line: run.dir: '$' without a variable's name in '" + text + "'");
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

TEST(ConfigLoad, a_tilde_is_the_home_directory_and_no_name) {
  setenv("HOME", "/of/mine", 1);
  auto const given = [](std::string const& text) {
    return parse_config("model: {}", "in.yaml", Overrides{"run.dir=" + text}).run.dir;
  };
  EXPECT_EQ(given("~/runs"), "/of/mine/runs");
  EXPECT_EQ(given("~"), "/of/mine");
  EXPECT_EQ(given("a/~"), "a/~");
  EXPECT_EQ(given("./~x"), "./~x");
  EXPECT_EQ(parse_config("data: {train: ~/t.h5}", "in.yaml").data.train[0], "/of/mine/t.h5");
  EXPECT_EQ(override_error("run.dir=~you/runs").find("command line: run.dir: '~you/runs': whose"),
            0u);
  unsetenv("HOME");
  EXPECT_EQ(override_error("run.dir=~/runs"),
            "command line: run.dir: the environment variable $HOME is not set");
}

TEST(ConfigLoad, unknown_keys_are_refused_with_the_nearest_name) {
  EXPECT_EQ(override_error("model.haeds=4"),
            "command line: model.haeds: unknown key; did you mean model.heads?");
  EXPECT_EQ(file_error("modle: {heads: 3}"), "in.yaml:1: modle: unknown key; did you mean model?");
  EXPECT_EQ(file_error("model:\n  lr: 3"),
            "in.yaml:2: model.lr: unknown key; did you mean optim.lr?");
  EXPECT_EQ(file_error("a: 1\nzzzzzzzz: 2"), "in.yaml:1: a: unknown key; --print-config lists all");
  EXPECT_EQ(file_error("model: {heads: 3, heads.x: 1}"),
            "in.yaml:1: model.heads.x: unknown key; did you mean model.heads?");
}

TEST(ConfigLoad, an_error_is_one_line_whatever_it_quotes) {
  EXPECT_EQ(file_error("\"a\\nb\\e[2J\": 1"),
            "in.yaml:1: a b [2J: unknown key; --print-config lists all");
}

TEST(ConfigLoad, keys_of_later_versions_are_refused_as_such) {
  EXPECT_EQ(file_error("plan:\n  shard: auto"),
            "in.yaml:2: plan.shard: not offered in this version");
  EXPECT_EQ(override_error("run.trace=true"),
            "command line: run.trace: not offered in this version");
  EXPECT_EQ(override_error("run.trace.level=2"),
            "command line: run.trace.level: not offered in this version");
  EXPECT_EQ(override_error("run.tracer=2").find("command line: run.tracer: unknown key"), 0u);
  EXPECT_EQ(file_error("data:\n  train:\n    - {path: a, weight: 2}"),
            "in.yaml:2: data.train: weights are not offered in this version");
}

TEST(ConfigLoad, a_fraction_of_rows_is_a_number_between0_and1_behind_a_word_that_takes_it) {
  auto const why = [](char const* word) {
    return override_error(std::string("plan.activations=") + word);
  };
  EXPECT_EQ(why("light+nvme:2"),
            "command line: plan.activations: 'light+nvme:2' does not end with a fraction between "
            "0 and 1");
  EXPECT_EQ(
      why("nvme:x"),
      "command line: plan.activations: 'nvme:x' does not end with a fraction between 0 and 1");
  EXPECT_EQ(why("keep:0.5"),
            "command line: plan.activations: keep takes no fraction; host, nvme, light+host, "
            "light+nvme do");
  EXPECT_EQ(why("nvme:0.5"),
            "command line: plan.activations: nvme needs memory.nvme: {path: DIR, size: BYTES}");
}

TEST(ConfigLoad, places_need_their_tier) {
  EXPECT_EQ(override_error("plan.optimizer=nvme"),
            "command line: plan.optimizer: nvme needs memory.nvme: {path: DIR, size: BYTES}");
  EXPECT_EQ(override_error("plan.gradients=host"),
            "command line: plan.gradients: host needs memory.host: BYTES");
  EXPECT_EQ(override_error("plan.update=host"), "");
}

TEST(ConfigLoad, wrong_types_are_refused) {
  EXPECT_EQ(file_error("model:\n  layers: twelve"),
            "in.yaml:2: model.layers: expected an integer, got 'twelve'");
  EXPECT_EQ(file_error("model:\n  layers: 12.0"),
            "in.yaml:2: model.layers: expected an integer, got '12.0'");
  EXPECT_EQ(file_error("model: {layers: [1]}"),
            "in.yaml:1: model.layers: expected an integer, got a list");
  EXPECT_EQ(file_error("model: {layers: {a: 1}}"),
            "in.yaml:1: model.layers: expected an integer, got a map");
  EXPECT_EQ(file_error("model:\n  heads:\n"),
            "in.yaml:2: model.heads: no value given; expected an integer");
  EXPECT_EQ(override_error("model.heads="),
            "command line: model.heads: no value given; expected an integer");
  EXPECT_EQ(file_error("model: {tied: yes}"),
            "in.yaml:1: model.tied: expected true or false, got 'yes'");
  EXPECT_EQ(file_error("model: 5"), "in.yaml:1: model: expected a map of keys, got '5'");
  EXPECT_EQ(file_error("run: {checkpoint: none}"),
            "in.yaml:1: run.checkpoint: expected a map of keys, got 'none'");
  EXPECT_EQ(override_error("run.checkpoint="),
            "command line: run.checkpoint: expected a map of keys, got nothing");
  EXPECT_EQ(file_error("memory: {device: 8G}"),
            "in.yaml:1: memory.device: expected a size below 2^63 bytes (8GiB, 1.5GB, 4096), "
            "got '8G'");
  EXPECT_EQ(file_error("run: {max_time: 3:50:00}"),
            "in.yaml:1: run.max_time: expected a duration (3h50m, 90s, 2d), got '3:50:00'");
  EXPECT_EQ(file_error("run: {dir: ''}"), "in.yaml:1: run.dir: an empty path");
  EXPECT_EQ(file_error("plan: {activations: []}"),
            "in.yaml:1: plan.activations: the list is empty");
  EXPECT_EQ(file_error("plan: {activations: {keep: 3}}"),
            "in.yaml:1: plan.activations: expected a text, got a map");
  EXPECT_EQ(file_error("plan:\n  activations:\n"),
            "in.yaml:2: plan.activations: no value given; expected a text");
  EXPECT_EQ(file_error("memory: {nvme: {path: [/a, /b], size: 1GiB}}"),
            "in.yaml:1: memory.nvme.path: expected a text, got a list");
}

TEST(ConfigLoad, values_out_of_bounds_are_refused) {
  EXPECT_EQ(file_error("model: {heads: 0}"),
            "in.yaml:1: model.heads: 0 is out of bounds: integer, 1 to 100000");
  EXPECT_EQ(file_error("model: {layers: -1}"),
            "in.yaml:1: model.layers: -1 is out of bounds: integer, 1 to 5000");
  EXPECT_EQ(file_error("optim: {clip: -0.1}"),
            "in.yaml:1: optim.clip: -0.1 is out of bounds: number >= 0");
  EXPECT_EQ(file_error("optim: {eps: 0}"),
            "in.yaml:1: optim.eps: 0 is out of bounds: number, 0 < x < 1");
  EXPECT_EQ(file_error("optim: {beta1: 1}").substr(0, 42),
            "in.yaml:1: optim.beta1: 1 is out of bounds");
  EXPECT_EQ(file_error("memory: {device: 8}"),
            "in.yaml:1: memory.device: 8 is out of bounds: size, 4KiB to 1000PB");
  EXPECT_EQ(file_error("run: {max_time: 0s}"),
            "in.yaml:1: run.max_time: 0s is out of bounds: duration > 0s; or auto");
  EXPECT_EQ(file_error("optim: {schedule: step}"),
            "in.yaml:1: optim.schedule: 'step' is not one of cosine | linear | constant");
  EXPECT_EQ(override_error("debug.fault=storage-read"),
            "command line: debug.fault: 'storage-read' is not one of "
            "storage-read:N | storage-write:N | storage-read-all:N | storage-write-all:N | "
            "storage-random:N | storage-slow:N | drive-told-slow:N | kill-rank:N");
  EXPECT_EQ(override_error("debug.fault=kill-rank:3"), "");
  EXPECT_EQ(override_error("debug.fault=none"), "");
}

TEST(ConfigLoad, products_that_no_machine_holds_are_refused_by_their_keys) {
  EXPECT_EQ(
      file_error("model: {layers: 5000, hidden: 1000000, heads: 1}"),
      "in.yaml:1: model.hidden: 5000 layers with hidden = 1000000 and ffn = 0 have a state of "
      "more than 8 PiB");
  EXPECT_EQ(file_error("model: {vocab: 2147483647, hidden: 1000000, heads: 1}"),
            "in.yaml:1: model.vocab: 2147483647 rows of hidden = 1000000 have a state of more than "
            "8 PiB");
  EXPECT_EQ(file_error("batch: {sequences: 1000000000, micro: 1000000000}\n"
                       "data: {sequence: 1000000000}\nrun: {steps: 1}"),
            "in.yaml:1: batch.micro: a micro-batch of 1000000000 x data.sequence = 1000000000 rows "
            "of hidden = 768 takes more than 8 PiB");
  EXPECT_EQ(file_error("run: {steps: 1000000000000}\nbatch: {sequences: 1000000000}"),
            "in.yaml:1: run.steps: 1000000000000 steps of 1000000000 sequences of 1024 tokens are "
            "more tokens than 63 bits count");
}

TEST(ConfigLoad, numbers_that_are_not_finite_or_too_large_are_refused) {
  EXPECT_EQ(file_error("optim: {lr: nan}"), "in.yaml:1: optim.lr: nan is not a finite number");
  EXPECT_EQ(file_error("optim: {lr: inf}"), "in.yaml:1: optim.lr: inf is not a finite number");
  EXPECT_EQ(file_error("optim: {lr: .nan}"), "in.yaml:1: optim.lr: expected a number, got '.nan'");
  EXPECT_EQ(file_error("optim: {clip: 1e999}"),
            "in.yaml:1: optim.clip: 1e999 is out of the range of a double, 5e-324 to 1.8e308");
  EXPECT_EQ(file_error("optim: {clip: 1e-999}"),
            "in.yaml:1: optim.clip: 1e-999 is out of the range of a double, 5e-324 to 1.8e308");
  EXPECT_EQ(file_error("run: {steps: 9223372036854775808}"),
            "in.yaml:1: run.steps: 9223372036854775808 does not fit in 64 bits");
  EXPECT_EQ(file_error("run: {seed: 18446744073709551616}"),
            "in.yaml:1: run.seed: 18446744073709551616 does not fit in 64 bits");
  EXPECT_EQ(file_error("run: {seed: -1}"),
            "in.yaml:1: run.seed: expected an integer that is not negative, got '-1'");
}

TEST(ConfigLoad, keys_given_twice_are_refused) {
  EXPECT_EQ(file_error("run:\n  steps: 1\n  steps: 2\n"),
            "in.yaml:3: run.steps: given twice (first in line 2)");
  EXPECT_EQ(file_error("run:\n  steps: 1\nrun.steps: 2\n"),
            "in.yaml:3: run.steps: given twice (first in in.yaml:2)");
}

TEST(ConfigLoad, malformed_overrides_are_refused) {
  EXPECT_EQ(override_error("steps"), "command line: 'steps': expected key=value");
  EXPECT_EQ(override_error("=3"), "command line: '=3': expected key=value");
  EXPECT_TRUE(override_error("model.heads=[1").starts_with("command line: model.heads:"));
  EXPECT_EQ(override_error("run.dir="), "command line: run.dir: no value given; expected a text");
}

TEST(ConfigLoad, an_input_that_is_no_map_is_refused) {
  EXPECT_EQ(file_error("- a\n- b\n"), "in.yaml:1: expected a map of keys, got a list");
  EXPECT_EQ(file_error("hello"), "in.yaml:1: expected a map of keys, got 'hello'");
}

class ConfigFile : public testing::Test {
 protected:
  ConfigFile() { std::filesystem::create_directories(m_dir); }
  ~ConfigFile() override { std::filesystem::remove_all(m_dir); }

  std::string write(std::string const& text) const {
    auto const path = m_dir + "/in.yaml";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static std::string error(std::string const& path) {
    return error_line([&] { load_config(path); });
  }

  std::string m_dir = testing::TempDir() + "spillway_config_load";
};

TEST_F(ConfigFile, that_is_missing_unreadable_or_a_directory_is_refused) {
  EXPECT_EQ(error(m_dir + "/none.yaml"),
            m_dir + "/none.yaml: cannot be read: No such file or directory");
  EXPECT_EQ(error(m_dir), m_dir + ": is a directory, not a file");
  auto const below_a_file = write("model: {}") + "/x";
  EXPECT_EQ(error(below_a_file), below_a_file + ": cannot be read: Not a directory");
}

TEST_F(ConfigFile, that_may_not_be_read_is_refused) {
  auto const path = write("model: {}");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  if (std::ifstream(path)) GTEST_SKIP() << "this user may read everything";
  EXPECT_EQ(error(path), path + ": cannot be read: Permission denied");
}

TEST_F(ConfigFile, that_is_empty_binary_or_huge_is_refused) {
  EXPECT_EQ(error(write("")), m_dir + "/in.yaml:1: the file is empty");
  EXPECT_EQ(error(write("# only a comment\n")), m_dir + "/in.yaml:1: the file is empty");
  EXPECT_EQ(error(write(std::string("\x89HDF\r\n\x1a\n\0\0", 10))),
            m_dir + "/in.yaml:3: is not a text file (a zero byte)");
  EXPECT_EQ(error(write(std::string((4u << 20) + 1, '#'))),
            m_dir + "/in.yaml: is larger than 4 MiB");
}

// Everything of its plan but whether that may change.
TEST_F(ConfigFile, of_a_saved_plan_takes_the_place_of_the_plan_keys) {
  auto const file = write("activations: [keep, recompute]\nupdate: host\nprefetch: 3\n");
  for (auto const* replan : {"false", "true"}) {
    auto const config =
        parse_config("run: {steps: 9}", "in.yaml",
                     Overrides{"plan.file=" + file, std::string("plan.replan=") + replan});
    auto const plan = with_saved_plan(config).plan;
    EXPECT_EQ(texts(plan.activations), (std::vector<std::string>{"keep", "recompute"}));
    EXPECT_EQ(texts(plan.update), std::vector<std::string>{"host"});
    EXPECT_EQ(texts(plan.optimizer), std::vector<std::string>{"auto"});
    EXPECT_EQ(plan.prefetch, 3);
    EXPECT_EQ(plan.replan, std::string(replan) == "true");
    EXPECT_EQ(plan.file, "");
    EXPECT_EQ(with_saved_plan(config).run.steps, 9);
  }
  EXPECT_TRUE(load_plan(file).replan);
}

// It would take the place of what the command line says.
TEST_F(ConfigFile, of_a_saved_plan_does_not_say_whether_the_plan_may_change) {
  auto const file = write("prefetch: 3\nreplan: true\n");
  auto const config =
      parse_config("{}", "in.yaml", Overrides{"plan.file=" + file, "plan.replan=false"});
  auto const why = file + ":2: plan.replan: is for the run that uses the plan; leave it out here";
  EXPECT_EQ(error_line([&] { with_saved_plan(config); }), why);
  EXPECT_EQ(error_line([&] { load_plan(file); }), why);
}

TEST_F(ConfigFile, of_a_saved_plan_is_held_against_the_machine_that_is_meant) {
  auto const config =
      parse_config("model: {layers: 2}", "in.yaml",
                   Overrides{"plan.file=" + write("prefetch: 1\noptimizer: host\n")});
  EXPECT_EQ(error_line([&] { with_saved_plan(config); }),
            m_dir + "/in.yaml:2: plan.optimizer: host needs memory.host: BYTES");
  EXPECT_EQ(error_line([&] { with_saved_plan(config, elsewhere); }), "");
  auto const none = parse_config("{}", "in.yaml");
  EXPECT_EQ(to_yaml(with_saved_plan(none)), to_yaml(none));
}

TEST_F(ConfigFile, names_its_lines_with_windows_line_ends_too) {
  EXPECT_EQ(error(write("model:\r\n  layers: x\r\n")),
            m_dir + "/in.yaml:2: model.layers: expected an integer, got 'x'");
  EXPECT_EQ(load_config(write("model:\r\n  layers: 3\r\n")).model.layers, 3);
}

}  // namespace
}  // namespace spillway::config_load_test
