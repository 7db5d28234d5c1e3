// A Config holds every value that a user can set. load_config fills it by the table in keys.cpp and
// checks it. Most fields have the names of keys: `cfg.batch.micro` is `batch.micro`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/asked_plan.hpp"
#include "config/choices.hpp"

namespace spillway {

// Describes adapters (Hu et al., arXiv:2106.09685) of linear layers: x w^T becomes
// x w^T + alpha / rank dropout(x) A^T B^T, of which A and B alone are trained.
struct LoraConfig {
  std::int64_t rank = 0;                  // 0 means that there are no adapters
  double alpha = 0;                       // 0 means `auto`
  std::vector<std::string> targets = {};  // linear layers (model/adapters.hpp); empty means `auto`
  double dropout = 0;
};

struct ModelConfig {
  std::string import_from = {};  // a directory in Hugging Face's format; written to no file
  Family family = Family::gpt;
  std::int64_t layers = 12, hidden = 768, heads = 12;
  // If a field is 0 or empty and its key may be `auto`, the value is `auto`, for which the code of
  // the model's family chooses one (model/model.hpp).
  std::int64_t kv_heads = 0, head_size = 0;
  std::int64_t decoder_layers = 0;
  std::int64_t ffn = 0;
  std::int64_t vocab = 0;      // 0 means that of the token file, with special tokens
  std::int64_t positions = 0;  // how many positions have an embedding
  std::int64_t token_types = 2;
  std::optional<Activation> activation = {};
  bool gated = false;
  bool tied = true;
  bool bias = true;  // whether linear layers and norms have biases
  bool qkv_bias = false, qk_norm = false;
  double rope_theta = 10000;
  RopeScaling rope_scaling = RopeScaling::none;
  double rope_factor = 1, rope_low_freq_factor = 1, rope_high_freq_factor = 4;
  std::int64_t rope_original_positions = 8192;
  std::int64_t window = 0;       // how many tokens attention sees; 0 means all
  std::int64_t window_from = 0;  // the first layer to which `window` applies
  std::int64_t relative_buckets = 32, relative_max_distance = 128;
  std::optional<ScaleOutput> scale_output = {};
  double dropout = 0, attention_dropout = 0;
  double norm_eps = 0;
  std::vector<std::string> freeze = {};  // patterns of names of parameters that are not trained
  LoraConfig lora = {};
  Quantization quantize = Quantization::none;  // of what is frozen
};

struct DataConfig {
  std::vector<std::string> train, valid;  // patterns of file names; $VAR is expanded already
  std::vector<double> weights = {};       // of the patterns of `train`; empty if they have none
  ChangedData changed = ChangedData::finish;
  std::int64_t sequence = 1024;
  bool pack = false;                          // whether tokens attend only to their document
  std::optional<Objective> objective = {};    // empty means the objective of the model's family
  std::optional<std::int64_t> target_length;  // length of the decoder's sequence; empty means auto
  std::optional<std::int64_t> mask_id, pad_id, eos_id, sentinel_id;
};

struct BatchConfig {
  std::int64_t sequences = 32;             // sequences of a step, over all ranks
  std::optional<std::int64_t> micro = {};  // sequences of a micro-batch; empty means auto
  // The part of a step's micro-batches that each rank runs, by rank. If empty, all parts are equal.
  std::vector<std::int64_t> share = {};
  std::optional<std::int64_t> mlp_chunk = {};  // rows that an MLP takes at a time; empty means auto
};

struct OptimConfig {
  Optimizer name = Optimizer::adamw;
  double lr = 6e-4, min_lr = 6e-5, weight_decay = 0.1, beta1 = 0.9, beta2 = 0.95, eps = 1e-8;
  double momentum = 0;                                         // of sgd and muon; 0 means `auto`
  double beta2_decay = -0.8, clip_threshold = 1, eps2 = 1e-3;  // of adafactor
  AdjustLr adjust_lr = AdjustLr::match_rms_adamw;              // of muon
  double adamw_lr = 0;                                         // of muon; 0 means `auto`
  double clip = 1.0;                                           // 0 means no clipping
  std::int64_t warmup = 700;
  Schedule schedule = Schedule::cosine;
  bool decay_all = false, decay_embeddings = false;
  Precision moments = Precision::fp32, gradients = Precision::fp32;
  std::optional<Reduction> reduction = {};
  NonFinite non_finite = NonFinite::stop;

  // Says whether updates wait for the norm of all gradients, which clips them or skips a step.
  bool awaits_norm() const { return clip > 0 || non_finite != NonFinite::stop; }
};

struct MemoryConfig {
  // In each field of MemoryConfig, nullopt means auto, and 0 or {} means that there is no such
  // memory.
  std::optional<std::int64_t> device_bytes;
  std::optional<std::int64_t> host_bytes;
  std::optional<std::vector<std::string>> nvme_paths;  // a directory on each drive
  std::optional<std::int64_t> nvme_bytes;              // of all drives together

  // For a run on the cores of this machine, `auto` means none: no drive was named, and device
  // memory is main memory. A run on a device with memory of its own must not use host_bytes_here().
  std::int64_t host_bytes_here() const { return host_bytes.value_or(0); }
  std::vector<std::string> nvme_paths_here() const {
    return nvme_paths.value_or(std::vector<std::string>());
  }
  bool has_nvme_here() const { return nvme_paths && !nvme_paths->empty(); }
  std::int64_t nvme_bytes_here() const { return nvme_bytes.value_or(0); }
  bool nvme_is_none() const { return (nvme_paths && nvme_paths->empty()) || nvme_bytes == 0; }
};

struct PlanConfig : AskedPlan {
  bool replan = true;  // whether the plan may change during the run
  std::string file;    // path of a saved plan; empty means that there is none
};

struct CheckpointConfig {
  std::int64_t every = 1000;  // steps between checkpoints; 0 means only at the end of the run
  std::optional<double> minutes;
  std::int64_t keep = 3;
  std::optional<Resume> resume = {};
};

struct RunConfig {
  std::int64_t steps = 20000;
  std::uint64_t seed = 1;
  std::string device = "auto";               // auto, cpu, cuda or cuda:N
  std::optional<std::int64_t> threads;       // compute threads of a rank; empty means auto
  std::optional<std::int64_t> host_threads;  // threads of a rank's host lane; empty means auto
  std::string dir;                   // empty means auto, which load_config replaces by runs/NAME
  std::string init;                  // a directory with the weights that the run starts from
  std::optional<double> max_time_s;  // empty means no limit, 0 means the batch job's limit
  double peer_timeout_s = 1800;
  CheckpointConfig checkpoint;
  std::int64_t eval_every = 250, eval_batches = 20;
  std::int64_t log_every = 10;
  bool log_tensorboard = false;
  std::vector<std::int64_t> trace;  // steps that trace.json shows, counted from 1
};

struct SpillConfig {
  std::int64_t queue_depth = 32;
  bool checksum = true;
  std::optional<std::int64_t> max_write_per_day_bytes = {};  // empty means unlimited
};

struct DebugConfig {
  bool poison = false, locked_allocator = false;
  std::optional<Backend> force_backend = {};
  std::optional<KernelSet> kernels = {};
  std::string fault = "none";
  std::string machine;  // path of a machine file; if empty, the machine is measured
  bool log_samples = false;
};

struct Config {
  ModelConfig model;
  DataConfig data;
  BatchConfig batch;
  OptimConfig optim;
  Precision precision = Precision::bf16;
  MemoryConfig memory;
  PlanConfig plan;
  RunConfig run;
  SpillConfig spill;
  DebugConfig debug;
};

}  // namespace spillway
