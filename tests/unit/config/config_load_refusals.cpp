// Keys and values that are refused, each in one line that names its place.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/config/config_errors.hpp"

namespace spillway::config_load_refusals_test {
namespace {

using test::file_error, test::override_error;

TEST(ConfigLoad, unknown_keys_are_refused_with_the_nearest_name) {
  EXPECT_EQ(override_error("model.haeds=4"),
            "command line: model.haeds: unknown key; did you mean model.heads?");
  EXPECT_EQ(override_error("optim.foo=2"),
            "command line: optim.foo: unknown key; --print-config lists all");
  EXPECT_EQ(file_error("modle: {heads: 3}"), "in.yaml:1: modle: unknown key; did you mean model?");
  EXPECT_EQ(file_error("model:\n  lr: 3"),
            "in.yaml:2: model.lr: unknown key; did you mean optim.lr?");
  EXPECT_EQ(file_error("a: 1\nzzzzzzzz: 2"), "in.yaml:1: a: unknown key; --print-config lists all");
  EXPECT_EQ(file_error("model: {heads: 3, heads.x: 1}"),
            "in.yaml:1: model.heads.x: unknown key; did you mean model.heads?");
}

TEST(ConfigLoad, what_belongs_on_the_command_line_is_shown_as_a_file_has_it) {
  EXPECT_EQ(file_error("optim: {lr=1}"),
            "in.yaml:1: optim.lr=1: unknown key; in a file it is `lr: 1`");
}

TEST(ConfigLoad, an_error_is_one_line_whatever_it_quotes) {
  EXPECT_EQ(file_error("\"a\\nb\\e[2J\": 1"),
            "in.yaml:1: a b [2J: unknown key; --print-config lists all");
}

TEST(ConfigLoad, keys_of_later_versions_are_refused_as_such) {
  EXPECT_EQ(file_error("debug:\n  checksum_all: true"),
            "in.yaml:2: debug.checksum_all: not offered in this version");
  EXPECT_EQ(override_error("debug.checksum_all=true"),
            "command line: debug.checksum_all: not offered in this version");
  EXPECT_EQ(override_error("debug.checksum_all.level=2"),
            "command line: debug.checksum_all.level: not offered in this version");
  EXPECT_EQ(
      override_error("debug.checksum_any=2").find("command line: debug.checksum_any: unknown key"),
      0u);
}

TEST(ConfigLoad, a_weight_stands_beside_its_path_and_is_above0) {
  EXPECT_EQ(file_error("data:\n  valid:\n    - {path: a, weight: 2}"),
            "in.yaml:2: data.valid: has no weights; give paths alone");
  auto const shape =
      "in.yaml:2: data.train: an element with a weight is {path: P, weight: W}, and "
      "has nothing else";
  EXPECT_EQ(file_error("data:\n  train:\n    - {path: a}"), shape);
  EXPECT_EQ(file_error("data:\n  train:\n    - {path: a, weight: 2, epochs: 1}"), shape);
  EXPECT_EQ(file_error("data:\n  train:\n    - {path: a, weight: 0}"),
            "in.yaml:2: data.train: weight: 0 is no number above 0");
  EXPECT_EQ(override_error("data.train=[{path: a, weight: x}]").find("command line: data.train: "),
            0u);
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
            "light+nvme, recompute+host, recompute+nvme do");
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
  EXPECT_EQ(file_error("model: 5"),
            "in.yaml:1: model: expected a map of keys, got '5'; say model: {import: 5}");
  EXPECT_EQ(file_error("model: {lora: 16}"),
            "in.yaml:1: model.lora: expected a map of keys, got '16'; say lora: {rank: 16}");
  EXPECT_EQ(file_error("model: {lora: true}"),
            "in.yaml:1: model.lora: expected a map of keys, got 'true'");
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
}

TEST(ConfigLoad, a_list_of_drives_has_different_directories) {
  auto const error = [](std::string const& paths) {
    return file_error("memory: {nvme: {path: " + paths + ", size: 1GiB}}");
  };
  EXPECT_EQ(error("[]"), "in.yaml:1: memory.nvme.path: the list is empty");
  EXPECT_EQ(error("[/a, none]"), "in.yaml:1: memory.nvme.path: 'none' in a list of directories");
  EXPECT_EQ(error("[auto, /a]"), "in.yaml:1: memory.nvme.path: 'auto' in a list of directories");
  EXPECT_EQ(error("[/a, '']"), "in.yaml:1: memory.nvme.path: an empty path");
  EXPECT_EQ(error("[/a, /b, /a]"),
            "in.yaml:1: memory.nvme.path: /a is there twice; name one directory on each drive");
  EXPECT_EQ(error("[/a, [/b]]"), "in.yaml:1: memory.nvme.path: expected a text, got a list");
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
  EXPECT_EQ(
      override_error("debug.fault=storage-read"),
      "command line: debug.fault: 'storage-read' is not one of "
      "storage-read:N | storage-write:N | storage-read-all:N | storage-write-all:N | "
      "storage-random:N | storage-slow:N | drive-told-slow:N | rank-told-slow:N | kill-rank:N");
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

}  // namespace
}  // namespace spillway::config_load_refusals_test
