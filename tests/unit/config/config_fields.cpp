// Every field of a Config under its name, as files keep it: each with a value that no other has.
#include <gtest/gtest.h>

#include "config/load.hpp"
#include "config/print.hpp"

namespace spillway::config_fields_test {
namespace {

ModelConfig full_model(Family family) {
  ModelConfig m;
  m.family = family;
  m.layers = 3;
  m.hidden = 96;
  m.heads = 6;
  m.kv_heads = 2;
  m.head_size = 18;
  m.decoder_layers = 4;
  m.ffn = 200;
  m.vocab = 1000;
  m.positions = 555;
  m.token_types = 5;
  m.activation = Activation::gelu_erf;
  m.gated = true;
  m.tied = false;
  m.bias = false;
  m.qkv_bias = true;
  m.rope_theta = 5e5;
  m.rope_scaling = RopeScaling::llama3;
  m.rope_factor = 8;
  m.rope_low_freq_factor = 1.5;
  m.rope_high_freq_factor = 7;
  m.rope_original_positions = 99;
  m.window = 11;
  m.window_from = 1;
  m.relative_buckets = 12;
  m.relative_max_distance = 77;
  m.scale_output = ScaleOutput::yes;
  m.dropout = 0.125;
  m.attention_dropout = 0.25;
  m.norm_eps = 1e-7;
  m.freeze = {"a.*", "b.?.c"};
  m.lora = {.rank = 8, .alpha = 12.5, .targets = {"q", "o_proj"}, .dropout = 0.05};
  m.quantize = Quantization::nf4;
  return m;
}

Config full(Family family) {
  Config c;
  c.model = full_model(family);
  c.data = {{"a.h5", "b.h5"},
            {"v.h5"},
            {2, 0.5},
            ChangedData::anew,
            78,
            true,
            Objective::spans,
            9,
            21,
            22,
            23,
            124};
  c.batch = {24, 13, {2, 1}, 11};
  c.optim = {.name = Optimizer::adamw,
             .lr = 0.5,
             .min_lr = 0.03,
             .weight_decay = 0.01,
             .beta1 = 0.8,
             .beta2 = 0.999,
             .eps = 1e-12,
             .clip = 2.5,
             .warmup = 17,
             .schedule = Schedule::linear,
             .decay_all = true,
             .decay_embeddings = false,
             .moments = Precision::bf16,
             .gradients = Precision::fp32,
             .reduction = Reduction::each,
             .non_finite = NonFinite::skip};
  c.precision = Precision::fp32;
  c.memory = {7ll << 30, 5ll << 20, std::vector<std::string>{"/scratch"}, 6ll << 40};
  c.plan = {{{BlockPlan{BlockPolicy::light_host, 0.25}, BlockPlan{BlockPolicy::recompute, 1}},
             {Tier::nvme},
             {Tier::host},
             {Tier::device, Tier::nvme},
             {Tier::host, std::nullopt},
             {Shard::optimizer, Shard::all},
             ShardRanks::node,
             4,
             8,
             35},
            false,
            ""};
  c.run.steps = 19;
  c.run.seed = ~0ull;
  c.run.device = "cuda:3";
  c.run.threads = 15;
  c.run.host_threads = 16;
  c.run.dir = "runs/one";
  c.run.init = "old";
  c.run.max_time_s = 13800.5;
  c.run.peer_timeout_s = 95;
  c.run.checkpoint = {31, 1.5, 32, Resume::never};
  c.run.eval_every = 33;
  c.run.eval_batches = 34;
  c.run.log_every = 35;
  c.run.log_tensorboard = true;
  c.run.trace = {2, 3};
  c.spill = {36, false, 2'000'000'000};
  c.debug = {true, false, Backend::posix, KernelSet::portable, "storage-slow:37", "m.yaml", true};
  return c;
}

constexpr auto kT5 = R"(model:
  family: t5
  layers: 3
  hidden: 96
  heads: 6
  head_size: 18
  decoder_layers: 4
  ffn: 200
  activation: gelu_erf
  gated: true
  vocab: 1000
  tied: false
  scale_output: true
  dropout: 0.125
  attention_dropout: 0.25
  norm_eps: 1e-07
  relative_buckets: 12
  relative_max_distance: 77
  freeze: [a.*, "b.?.c"]
  lora:
    rank: 8
    alpha: 12.5
    targets: [q, o_proj]
    dropout: 0.05
  quantize: nf4
data:
  train: [{path: a.h5, weight: 2}, {path: b.h5, weight: 0.5}]
  valid: v.h5
  changed: anew
  sequence: 78
  pack: true
  objective: spans
  target: 9
  mask_id: 21
  pad_id: 22
  eos_id: 23
  sentinel_id: 124
batch:
  sequences: 24
  micro: 13
  mlp_chunk: 11
  share: [2, 1]
optim:
  name: adamw
  lr: 0.5
  min_lr: 0.03
  warmup: 17
  schedule: linear
  weight_decay: 0.01
  decay_all: true
  decay_embeddings: false
  beta1: 0.8
  beta2: 0.999
  eps: 1e-12
  clip: 2.5
  moments: bf16
  gradients: fp32
  reduction: each
  non_finite: skip
precision: fp32
memory:
  device: 7GiB
  host: 5MiB
  nvme:
    path: /scratch
    size: 6TiB
plan:
  activations: [light+host:0.25, recompute]
  parameters: nvme
  gradients: host
  optimizer: [device, nvme]
  update: [host, auto]
  shard: [optimizer, all]
  shard_ranks: node
  prefetch: 4
  group: 8
  early: 35
  replan: false
  file: none
run:
  steps: 19
  seed: 18446744073709551615
  device: cuda:3
  threads: 15
  host_threads: 16
  dir: runs/one
  init: old
  max_time: 13800.5s
  peer_timeout: 1m35s
  checkpoint:
    every: 31
    minutes: 1.5
    keep: 32
    resume: never
  eval:
    every: 33
    batches: 34
  log:
    every: 35
    tensorboard: true
  trace: [2, 3]
spill:
  queue_depth: 36
  checksum: false
  max_write_per_day: 1953125KiB
debug:
  poison: true
  locked_allocator: false
  force_backend: posix
  kernels: portable
  fault: storage-slow:37
  machine: m.yaml
  log_samples: true
)";
constexpr auto kGpt = R"(model:
  family: gpt
  layers: 3
  hidden: 96
  heads: 6
  ffn: 200
  activation: gelu_erf
  vocab: 1000
  positions: 555
  tied: false
  bias: false
  dropout: 0.125
  attention_dropout: 0.25
  norm_eps: 1e-07
data:
  mask_id: 21
  pad_id: 22
  eos_id: 23
  sentinel_id: 124
)";
constexpr auto kBert = R"(model:
  family: bert
  layers: 3
  hidden: 96
  heads: 6
  ffn: 200
  activation: gelu_erf
  vocab: 1000
  positions: 555
  token_types: 5
  tied: false
  dropout: 0.125
  attention_dropout: 0.25
  norm_eps: 1e-07
data:
  mask_id: 21
  pad_id: 22
  eos_id: 23
  sentinel_id: 124
)";
constexpr auto kLlama = R"(model:
  family: llama
  layers: 3
  hidden: 96
  heads: 6
  kv_heads: 2
  head_size: 18
  ffn: 200
  vocab: 1000
  tied: false
  qkv_bias: true
  qk_norm: false
  dropout: 0.125
  attention_dropout: 0.25
  norm_eps: 1e-07
  rope_theta: 500000
  rope_scaling: llama3
  rope_factor: 8
  rope_low_freq_factor: 1.5
  rope_high_freq_factor: 7
  rope_original_positions: 99
  window: 11
  window_from: 1
data:
  mask_id: 21
  pad_id: 22
  eos_id: 23
  sentinel_id: 124
)";

TEST(ConfigFields, of_a_whole_input_stand_under_their_names) {
  EXPECT_EQ(to_yaml(full(Family::t5)), kT5);
}

TEST(ConfigFields, of_a_model_stand_under_their_names_with_the_ids_of_its_tokens) {
  EXPECT_EQ(model_yaml(full(Family::gpt)), kGpt);
  EXPECT_EQ(model_yaml(full(Family::bert)), kBert);
  EXPECT_EQ(model_yaml(full(Family::llama)), kLlama);
  auto open = full(Family::gpt);
  open.data.mask_id = open.data.sentinel_id = std::nullopt;
  auto const text = model_yaml(open);
  EXPECT_EQ(text.substr(text.find("data:")), "data:\n  pad_id: 22\n  eos_id: 23\n");
}

// The switches of a family that have one default: each alone.
TEST(ConfigFields, that_are_switches_turn_nothing_else) {
  auto const text_with = [](bool ModelConfig::*of_model) {
    Config config;
    config.model.family = Family::llama;
    config.model.*of_model = true;
    return to_yaml(config);
  };
  EXPECT_NE(text_with(&ModelConfig::qk_norm).find("qkv_bias: false\n  qk_norm: true\n"),
            std::string::npos);
  Config config;
  config.optim.decay_embeddings = config.debug.locked_allocator = true;
  auto const text = to_yaml(config);
  EXPECT_NE(text.find("decay_all: false\n  decay_embeddings: true\n"), text.npos) << text;
  EXPECT_NE(text.find("poison: false\n  locked_allocator: true\n"), text.npos) << text;
  config.optim.gradients = Precision::bf16;
  EXPECT_NE(to_yaml(config).find("moments: fp32\n  gradients: bf16\n"), text.npos);
  config.plan.file = "p.yaml";
  EXPECT_NE(to_yaml(config).find("  replan: true\n  file: p.yaml\n"), text.npos);
  config.model.import_from = "hf";
  EXPECT_EQ(to_yaml(config).find("import"), text.npos) << "it has become the other keys";
}

}  // namespace
}  // namespace spillway::config_fields_test
