#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "config/check.hpp"
#include "config/keys.hpp"
#include "config/load.hpp"
#include "config/same_model.hpp"
#include "config/suggest.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::config_check_test {
namespace {

std::string error_of(std::string const& text, std::vector<std::string> const& overrides = {}) {
  return test::refused_with([&] { parse_config(text, "in.yaml", overrides); });
}

TEST(ConfigCheck, defaults_are_sound) {
  EXPECT_NO_THROW(check(Config{}));
}

TEST(ConfigCheck, heads_must_divide_hidden) {
  EXPECT_EQ(error_of("model:\n  hidden: 770\n  heads: 12\n"),
            "in.yaml:3: model.heads: 12 does not divide hidden = 770");
}

TEST(ConfigCheck, heads_of_keys_must_fit_those_of_queries_and_rotary_positions_their_size) {
  auto const llama = [](std::string const& keys) {
    return error_of("model:\n  family: llama\n  hidden: 90\n  heads: 6\n  " + keys + "\n");
  };
  EXPECT_EQ(llama("head_size: 16\n  kv_heads: 4"),
            "in.yaml:6: model.kv_heads: 4 does not divide heads = 6");
  EXPECT_EQ(llama("kv_heads: 2"),
            "in.yaml:3: model.head_size: rotary positions turn columns of a head in pairs, and it "
            "has 15");
  EXPECT_EQ(llama("head_size: 16\n  rope_scaling: llama3\n  rope_low_freq_factor: 4"),
            "in.yaml:7: model.rope_high_freq_factor: 4 does not exceed rope_low_freq_factor = 4");
  EXPECT_EQ(error_of("model:\n  kv_heads: 2\n"),
            "in.yaml:2: model.kv_heads: models of the family gpt have none; it is of llama");
}

TEST(ConfigCheck, frequencies_are_compared_where_they_are_used) {
  for (auto const* scaling : {"none", "linear"})
    EXPECT_EQ(error_of(fmt::format("model: {{family: llama, rope_scaling: {}, "
                                   "rope_low_freq_factor: 4}}",
                                   scaling)),
              "");
  EXPECT_EQ(error_of("model: {family: llama, rope_scaling: llama3, rope_low_freq_factor: 3.9}"),
            "");
}

TEST(ConfigCheck, the_place_is_that_of_the_other_key_when_the_named_one_is_default) {
  EXPECT_EQ(error_of("run: {}\nmodel:\n  hidden: 770\n"),
            "in.yaml:3: model.heads: 12 does not divide hidden = 770");
  EXPECT_EQ(error_of("model: {}", {"model.hidden=770"}),
            "command line: model.heads: 12 does not divide hidden = 770");
  Config config;
  config.model.hidden = 770;
  try {
    check(config);
    FAIL();
  } catch (Error const& e) {
    EXPECT_STREQ(e.what(), "model.heads: 12 does not divide hidden = 770");
  }
}

TEST(ConfigCheck, an_override_that_contradicts_the_file_is_the_place) {
  EXPECT_EQ(error_of("model:\n  heads: 12\n", {"model.hidden=770"}),
            "command line: model.heads: 12 does not divide hidden = 770");
  EXPECT_EQ(error_of("model:\n  hidden: 768\n", {"model.heads=7"}),
            "command line: model.heads: 7 does not divide hidden = 768");
}

TEST(ConfigCheck, a_key_of_another_family_is_refused_where_it_was_given) {
  bool value = false;
  std::vector<Key> const keys = {{"model.token_types",
                                  BoolField{&value},
                                  "",
                                  "",
                                  "",
                                  Scope::model,
                                  {Family::bert, Family::t5}},
                                 {"model.tied", BoolField{&value}, "", "", "", Scope::model}};
  EXPECT_NO_THROW(check_family(keys, {{"model.tied", "in.yaml:2"}}, Family::gpt));
  Origins const origins = {{"model.token_types", "in.yaml:3"}};
  EXPECT_NO_THROW(check_family(keys, origins, Family::t5));
  try {
    check_family(keys, origins, Family::gpt);
    FAIL();
  } catch (Error const& e) {
    EXPECT_EQ(e.status(), Status::bad_input);
    EXPECT_STREQ(e.what(),
                 "in.yaml:3: model.token_types: models of the family gpt have none; it is of bert, "
                 "t5");
  }
}

// A key that does nothing is not taken in silence, but its default may be there.
TEST(Optimizers, refuse_keys_of_others) {
  auto const said = [](std::string const& keys) { return error_of("optim: {" + keys + "}"); };
  EXPECT_EQ(said("name: sgd, beta2: 0.9"),
            "in.yaml:1: optim.beta2: the optimizer sgd has none; it is of adamw, adamw_8bit, lion, "
            "muon");
  EXPECT_EQ(said("name: lion, eps: 1e-6"),
            "in.yaml:1: optim.eps: the optimizer lion has none; it is of adamw, adamw_8bit, muon");
  EXPECT_EQ(
      said("name: adamw_8bit, moments: bf16"),
      "in.yaml:1: optim.moments: the optimizer adamw_8bit has none; it is of adamw, lion, sgd");
  EXPECT_EQ(said("momentum: 0.9"),
            "in.yaml:1: optim.momentum: the optimizer adamw has none; it is of sgd, muon");
  EXPECT_EQ(said("name: sgd, momentum: 0.9, beta2: 0.95, moments: bf16"), "");
  EXPECT_EQ(said("name: muon, eps2: 0.1"),
            "in.yaml:1: optim.eps2: the optimizer muon has none; it is of adafactor");
  EXPECT_EQ(said("adjust_lr: original"),
            "in.yaml:1: optim.adjust_lr: the optimizer adamw has none; it is of muon");
  EXPECT_EQ(said("name: adafactor, beta2_decay: -0.5, clip_threshold: 2, eps2: 0.1"), "");
  EXPECT_EQ(said("name: muon, momentum: 0.9, adamw_lr: 0.1, beta2: 0.9, eps: 0.1"), "");
}

TEST(Optimizers, that_take_matrices_whole_are_not_shared_out) {
  for (std::string const name : {"adafactor", "muon"}) {
    auto const said = [&](std::string const& shard) {
      return error_of("{optim: {name: " + name + "}, plan: {shard: " + shard + "}}");
    };
    EXPECT_EQ(said("gradients"), "in.yaml:1: plan.shard: the optimizer " + name +
                                     " updates whole matrices, which ranks do not share out; give "
                                     "none or auto");
    EXPECT_EQ(said("none"), "");
    EXPECT_EQ(said("auto"), "");
  }
}

// One key after the other: those of the table that decide the model, and no others.
TEST(ConfigCheck, models_differ_in_the_keys_that_decide_them) {
  Config const here = parse_config("{}", "in.yaml");
  auto const with = [](std::string const& override) {
    return parse_config("{}", "in.yaml", std::vector{override});
  };
  EXPECT_EQ(model_difference(here, here), "");
  for (auto const* same : {"model.dropout=0.5", "optim.lr=1", "run.steps=3", "precision=fp32"})
    EXPECT_EQ(model_difference(here, with(same)), "") << same;
  EXPECT_EQ(model_difference(here, with("model.heads=8")), "model.heads is 12 there, 8 here");
  EXPECT_EQ(model_difference(with("model.ffn=9"), here), "model.ffn is 9 there, auto here");
  for (auto const* other : {"model.layers=3", "model.hidden=24", "model.vocab=9",
                            "model.tied=false", "model.bias=false", "model.norm_eps=0.5"})
    EXPECT_NE(model_difference(here, with(other)), "") << other;
}

TEST(ConfigCheck, keys_of_adapters_need_a_rank_and_freeze_all_else_themselves) {
  EXPECT_EQ(error_of("model: {lora: {alpha: 8}}"),
            "in.yaml:1: model.lora.alpha: needs model.lora.rank");
  EXPECT_EQ(error_of("model: {lora: {targets: [q]}}"),
            "in.yaml:1: model.lora.targets: needs model.lora.rank");
  EXPECT_EQ(error_of("model: {lora: {rank: 8}, freeze: [a]}"),
            "in.yaml:1: model.freeze: with model.lora all but the adapters is frozen; leave out "
            "one of them");
  EXPECT_EQ(error_of("model: {lora: {rank: 8, targets: [q, q]}}"),
            "in.yaml:1: model.lora.targets: q is there twice");
}

TEST(ConfigCheck, only_what_is_frozen_is_quantized) {
  EXPECT_EQ(
      error_of("model: {quantize: nf4}"),
      "in.yaml:1: model.quantize: quantizes what is frozen: needs model.lora or model.freeze");
  EXPECT_EQ(error_of("model: {quantize: nf4, lora: {rank: 8}}"), "");
  EXPECT_EQ(error_of("model: {quantize: int8, freeze: [a]}"), "");
}

TEST(ConfigCheck, the_micro_batch_is_at_most_the_batch) {
  EXPECT_EQ(error_of("batch: {sequences: 4, micro: 5}"),
            "in.yaml:1: batch.micro: 5 exceeds batch.sequences = 4");
  EXPECT_EQ(error_of("batch: {sequences: 4, micro: 4}"), "");
}

TEST(ConfigCheck, the_least_learning_rate_is_at_most_the_largest) {
  EXPECT_EQ(error_of("optim: {lr: 1e-5, min_lr: 6e-5}"),
            "in.yaml:1: optim.min_lr: 6e-05 exceeds optim.lr = 1e-05");
  EXPECT_EQ(error_of("optim: {lr: 0.5, min_lr: 0.5}"), "");
}

TEST(ConfigCheck, the_default_of_the_least_learning_rate_is_below_what_is_given_of_the_largest) {
  EXPECT_EQ(parse_config("optim: {lr: 1e-5}", "in.yaml").optim.min_lr, 1e-5 / 10);
  EXPECT_EQ(parse_config("optim: {lr: 1e-4}", "in.yaml").optim.min_lr, 6e-5);
}

TEST(ConfigCheck, half_gradients_need_half_precision) {
  EXPECT_EQ(error_of("precision: fp32\noptim: {gradients: bf16}"),
            "in.yaml:2: optim.gradients: bf16 needs precision: bf16");
  EXPECT_EQ(error_of("optim: {gradients: bf16, moments: bf16}"), "");
}

TEST(ConfigCheck, spilling_needs_a_path_and_a_size) {
  EXPECT_EQ(error_of("plan: {activations: [keep, nvme]}"),
            "in.yaml:1: plan.activations: nvme needs memory.nvme: {path: DIR, size: BYTES}");
  EXPECT_EQ(error_of("memory: {nvme: {path: /a}}"),
            "in.yaml:1: memory.nvme.size: needed with memory.nvme.path");
  EXPECT_EQ(error_of("memory: {nvme: {size: 1GiB}}"),
            "in.yaml:1: memory.nvme.path: needed with memory.nvme.size");
  EXPECT_EQ(error_of("plan: {activations: nvme}\nmemory: {nvme: {path: /a, size: 1GiB}}"), "");
}

TEST(ConfigCheck, another_machine_has_the_tiers_that_the_file_does_not_refuse) {
  Config config;
  config.plan.activations = {BlockPlan{BlockPolicy::nvme, 1}};
  config.plan.optimizer = {Tier::host};
  EXPECT_THROW(check(config), Error);
  EXPECT_NO_THROW(check(config, {}, ForMachine::other));
  config.memory.host_bytes = 0;
  EXPECT_THROW(check(config, {}, ForMachine::other), Error);
  config.memory.host_bytes = 1 << 20;
  EXPECT_NO_THROW(check(config, {}, ForMachine::other));
  config.memory.nvme_bytes = 1 << 20;
  EXPECT_NO_THROW(check(config, {}, ForMachine::other)) << "of the drive that it has";
  EXPECT_THROW(check(config), Error);
  config.memory.nvme_paths = std::vector<std::string>();
  EXPECT_THROW(check(config, {}, ForMachine::other), Error);
}

TEST(ConfigCheck, a_device_has_host_memory_beside_it_unless_refused) {
  Config config;
  config.plan.optimizer = {Tier::host};
  EXPECT_THROW(check(config), Error);
  EXPECT_NO_THROW(check(config, {}, ForMachine::here_beside_device));
  config.memory.host_bytes = 0;
  EXPECT_THROW(check(config, {}, ForMachine::here_beside_device), Error);
  config.plan.optimizer = {Tier::nvme};  // but no drive that nobody named
  EXPECT_THROW(check(config, {}, ForMachine::here_beside_device), Error);
}

TEST(ConfigCheck, a_device_is_a_word_or_a_cuda_device_with_its_number) {
  for (auto const* good : {"auto", "cpu", "cuda", "cuda:3"})
    EXPECT_EQ(error_of(fmt::format("run: {{device: \"{}\"}}", good)), "") << good;
  EXPECT_EQ(error_of("run: {device: gpu}"),
            "in.yaml:1: run.device: 'gpu' is not one of cpu | cuda | cuda:N");
}

TEST(ConfigCheck, a_fate_for_each_block_and_no_more) {
  EXPECT_EQ(error_of("model: {layers: 2}\nplan: {activations: [keep, keep, keep]}"),
            "in.yaml:2: plan.activations: a list of 3 for model.layers = 2");
}

TEST(ConfigCheck, a_saved_plan_excludes_forced_ones) {
  EXPECT_EQ(
      error_of("plan:\n  file: p.yaml\n  activations: keep\n"),
      "in.yaml:3: plan.activations: contradicts plan.file, which decides it; give one of them");
  EXPECT_EQ(error_of("plan:\n  file: p.yaml\n  update: host\n").substr(0, 23),
            "in.yaml:3: plan.update:");
  EXPECT_EQ(error_of("plan:\n  file: p.yaml\n  prefetch: 1\n").substr(0, 25),
            "in.yaml:3: plan.prefetch:");
  EXPECT_EQ(error_of("plan:\n  file: p.yaml\n  group: 2\n").substr(0, 22),
            "in.yaml:3: plan.group:");
  EXPECT_EQ(error_of("plan:\n  file: p.yaml\n  shard_ranks: all\n").substr(0, 28),
            "in.yaml:3: plan.shard_ranks:");
  EXPECT_EQ(error_of("plan: {file: p.yaml, activations: auto}"), "");
}

TEST(ConfigCheck, early_updates_are_put_off_only_where_no_norm_is_awaited) {
  auto const start_of_error = error_of("plan:\n  early: 50\n").substr(0, 41);
  EXPECT_EQ(start_of_error, "in.yaml:2: plan.early: below 100 it needs");
  EXPECT_NE(error_of("plan: {early: 50}\noptim: {clip: 0, non_finite: skip}"), "");
  EXPECT_EQ(error_of("plan: {early: 50}\noptim: {clip: 0}"), "");
  EXPECT_EQ(error_of("plan: {early: 100}"), "");
}

TEST(ConfigCheck, edit_distance_counts_swaps_once) {
  EXPECT_EQ(edit_distance("haeds", "heads"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", "abc"), 0);
}

}  // namespace
}  // namespace spillway::config_check_test
