// Keys of other programs: whoever writes one is told which key it is here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "config/keys.hpp"
#include "config/other_names.hpp"
#include "tests/unit/config/config_errors.hpp"

namespace spillway::config_other_names_test {
namespace {

using test::file_error, test::override_error;

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream words{std::string(text)};
  return {std::istream_iterator<std::string>(words), {}};
}

// Every key, and every group of keys.
std::set<std::string> our_names() {
  Config config;
  std::set<std::string> names;
  for (auto const& key : keys_of(config)) {
    std::string const name(key.name);
    for (auto dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1))
      names.insert(name.substr(0, dot));
    names.insert(name);
  }
  return names;
}

TEST(OtherNames, a_name_of_another_program_is_refused_with_our_key) {
  EXPECT_EQ(file_error("a:\nlearning_rate: 1e-3").substr(0, 11), "in.yaml:1: ");
  EXPECT_EQ(file_error("model:\n  n_layer: 3"),
            "in.yaml:2: model.n_layer: unknown key; here it is model.layers");
  EXPECT_EQ(file_error("batch_size: 8"),
            "in.yaml:1: batch_size: unknown key; here it is batch.sequences (of one optimizer step "
            "over all ranks; what a rank takes at a time is batch.micro)");
  EXPECT_EQ(override_error("Max-Grad-Norm=1"),
            "command line: Max-Grad-Norm: unknown key; here it is optim.clip (the norm over all "
            "parameters)");
  EXPECT_EQ(file_error("zero_optimization: {stage: 3}"),
            "in.yaml:1: zero_optimization: unknown key; here it is plan.shard (optimizer for "
            "stages 1 and 2, gradients go with it; all for stage 3)");
  EXPECT_EQ(file_error("lora_r: 8"), "in.yaml:1: lora_r: unknown key; here it is model.lora.rank");
  EXPECT_EQ(file_error("model: {lora: {r: 8}}"),
            "in.yaml:1: model.lora.r: unknown key; here it is model.lora.rank");
  EXPECT_EQ(
      file_error("load_in_4bit: true"),
      "in.yaml:1: load_in_4bit: unknown key; here it is model.quantize (nf4, of what is frozen)");
}

// The last part of a key of ours is a slip in its group, and not another program's name.
TEST(OtherNames, a_key_in_a_wrong_group_stays_a_slip) {
  EXPECT_EQ(file_error("plans: {optimizer: host}"),
            "in.yaml:1: plans: unknown key; did you mean plan?");
  EXPECT_EQ(override_error("plam.optimizer=host"),
            "command line: plam.optimizer: unknown key; did you mean plan.optimizer?");
  EXPECT_EQ(override_error("optimizer=adam"),
            "command line: optimizer: unknown key; here it is optim.name");
}

// What people of the field write most. A name that fails here wants a row in other_names.cpp.
TEST(OtherNames, none_of_the_common_names_is_unknown) {
  for (auto const* name : {"learning_rate",
                           "lr",
                           "batch_size",
                           "epochs",
                           "num_train_epochs",
                           "num_layers",
                           "n_layer",
                           "num_hidden_layers",
                           "hidden_size",
                           "n_embd",
                           "n_head",
                           "gradient_accumulation_steps",
                           "per_device_train_batch_size",
                           "max_seq_length",
                           "seq_len",
                           "block_size",
                           "max_steps",
                           "gradient_checkpointing",
                           "activation_checkpointing",
                           "bf16",
                           "fp16",
                           "zero_stage",
                           "zero_optimization",
                           "fsdp",
                           "offload_optimizer",
                           "offload_param",
                           "max_grad_norm",
                           "grad_clip",
                           "warmup_steps",
                           "warmup_ratio",
                           "lr_scheduler_type",
                           "weight_decay",
                           "betas",
                           "output_dir",
                           "out_dir",
                           "save_steps",
                           "save_total_limit",
                           "eval_steps",
                           "eval_interval",
                           "logging_steps",
                           "seed",
                           "vocab_size",
                           "tensor_parallel_size",
                           "pipeline_parallel_size",
                           "lora_r",
                           "wandb_project",
                           "num_gpus",
                           "dataset",
                           "tokenizer",
                           "dropout",
                           "max_iters",
                           "resume_from_checkpoint",
                           "model_name_or_path",
                           "nvme_path",
                           "pin_memory"}) {
    auto const error = override_error(std::string(name) + "=1");
    EXPECT_EQ(error.find("--print-config"), error.npos) << error;
    EXPECT_FALSE(error.empty()) << name;
  }
}

TEST(OtherNames, each_row_names_keys_that_exist_and_no_name_is_ours_or_comes_twice) {
  auto const ours = our_names();
  std::set<std::string> seen;
  std::regex const key_like("\\b(?:model|data|batch|optim|memory|plan|run|spill)\\.[a-z0-9_.]+\\b");
  for (auto const& row : other_names()) {
    EXPECT_TRUE(row.key.empty() ? !row.remark.empty() : ours.contains(std::string(row.key)))
        << row.names;
    std::string const remark(row.remark);
    for (std::sregex_iterator at(remark.begin(), remark.end(), key_like), end; at != end; ++at)
      EXPECT_TRUE(ours.contains(at->str())) << row.names << ": " << at->str();
    EXPECT_FALSE(remark.ends_with('.')) << row.names;
    for (auto const& name : words_of(row.names)) {
      EXPECT_TRUE(seen.insert(name).second) << name << " has two rows";
      EXPECT_FALSE(ours.contains(name)) << name << " is ours";
      EXPECT_EQ(other_name(name, {}), &row) << name << " is not found";
    }
  }
}

// The table as docs/glossary.md has it.
std::string markdown() {
  std::string text = "| elsewhere | here | what differs |\n| --- | --- | --- |\n";
  for (auto const& row : other_names()) {
    std::string names;
    for (auto const& name : words_of(row.names))
      names += (names.empty() ? "`" : ", `") + name + "`";
    auto const key = row.key.empty() ? "none" : "`" + std::string(row.key) + "`";
    text += "| " + names + " | " + key + " | " + std::string(row.remark) + " |\n";
  }
  return text;
}

// To write the end of the page anew: SPILLWAY_WRITE_DOCS=1 build/bin/test_config
TEST(OtherNames, the_glossary_ends_with_them) {
  std::string const path = SPILLWAY_SOURCE_DIR "/docs/glossary.md";
  std::ostringstream committed;
  committed << std::ifstream(path).rdbuf();
  auto const page = committed.str();
  auto const begin = page.find("| elsewhere | here |");
  ASSERT_NE(begin, page.npos);
  if (std::getenv("SPILLWAY_WRITE_DOCS")) {
    std::ofstream(path) << page.substr(0, begin) + markdown();
  } else {
    EXPECT_EQ(page.substr(begin), markdown());
  }
}

}  // namespace
}  // namespace spillway::config_other_names_test
