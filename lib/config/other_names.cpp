#include "config/other_names.hpp"

#include <algorithm>
#include <cctype>

namespace spillway {
namespace {

constexpr auto in_optimizer_steps = "in optimizer steps";
constexpr auto number_of_steps =
    "in steps: an epoch has tokens of data.train / (batch.sequences x data.sequence) of them";
constexpr auto steps_of_tokens = "in steps: tokens / (batch.sequences x data.sequence)";
constexpr auto global_batch =
    "of one optimizer step over all ranks; what a rank takes at a time is batch.micro";
constexpr auto one_rank = "of one rank; batch.sequences is that of a step over all ranks";
constexpr auto accumulation =
    "a whole step: a rank takes batch.sequences / (batch.micro x ranks) micro-batches for it";
constexpr auto checkpointing =
    "auto: the plan decides for each layer; `recompute` makes all of it again";
constexpr auto offloading = "host or nvme; auto decides, within memory.host and memory.nvme";
constexpr auto stages = "optimizer for stages 1 and 2, gradients go with it; all for stage 3";
constexpr auto lower_precision = "bf16 or fp32; fp16 and its loss scaling are not there";
constexpr auto one_parallelism =
    "for state; each rank runs the whole model on sequences of its own, and no layer is parted";
constexpr auto on_disk = "a directory of Hugging Face on disk; nothing is downloaded";
constexpr auto token_files = "token files, which `spillway tokenize` makes; docs/tokens.md";

// Of what a run learns, and from what.
constexpr OtherName of_training[] = {
    {"learning_rate max_lr peak_lr base_lr", "optim.lr", "the peak, after the warm-up"},
    {"lr_min min_learning_rate min_lr_ratio lr_min_ratio", "optim.min_lr",
     "a rate, not a share of the peak"},
    {"warmup_steps num_warmup_steps warmup_iters lr_warmup_iters warmup_num_steps lr_warmup_steps",
     "optim.warmup", in_optimizer_steps},
    {"warmup_ratio lr_warmup_fraction warmup_fraction", "optim.warmup",
     "in steps: the share times run.steps"},
    {"lr_scheduler_type lr_decay_style lr_scheduler scheduler lr_schedule", "optim.schedule",
     "cosine, linear or constant"},
    {"lr_decay_iters decay_lr lr_decay_steps", "optim.schedule",
     "it ends with run.steps; constant for none"},
    {"optimizer optimizer_type optim_type", "optim.name", ""},
    {"adam_beta1", "optim.beta1", ""},
    {"adam_beta2", "optim.beta2", ""},
    {"betas adam_betas", "optim.beta1", "and optim.beta2, each by itself"},
    {"adam_epsilon adam_eps epsilon", "optim.eps", ""},
    {"max_grad_norm grad_clip clip_grad gradient_clipping gradient_clip_val clip_grad_norm",
     "optim.clip", "the norm over all parameters"},
    {"batch_size", "batch.sequences", global_batch},
    {"global_batch_size train_batch_size", "batch.sequences", ""},
    {"total_batch_size tokens_per_batch", "batch.sequences",
     "in sequences: tokens / data.sequence"},
    {"micro_batch_size per_device_train_batch_size train_micro_batch_size_per_gpu "
     "device_batch_size local_batch_size per_gpu_train_batch_size",
     "batch.micro", one_rank},
    {"per_device_eval_batch_size eval_batch_size", "batch.micro", "evaluations take it, too"},
    {"gradient_accumulation_steps accumulate_grad_batches grad_accum_steps gradient_accumulation",
     "batch.sequences", accumulation},
    {"epochs num_train_epochs num_epochs max_epochs n_epochs", "run.steps", number_of_steps},
    {"max_steps max_iters train_iters num_steps total_steps num_train_steps train_steps iterations",
     "run.steps", in_optimizer_steps},
    {"train_samples", "run.steps", "in steps: samples / batch.sequences"},
    {"max_tokens train_tokens total_tokens num_tokens", "run.steps", steps_of_tokens},
    {"max_seq_length seq_len seq_length sequence_length block_size context_length max_seq_len "
     "max_length seqlen n_ctx cutoff_len",
     "data.sequence", "in tokens"},
    {"packing sample_packing", "data.pack", "true keeps documents apart"},
    {"mlm mlm_probability", "data.objective", "masked, with 15 % of the tokens hidden"},
    {"train_file train_dataset dataset dataset_name dataset_path data_path train_data "
     "train_data_path",
     "data.train", token_files},
    {"mix data_mix mixture data_mixture blend data_blend dataset_weights interleave", "data.train",
     "a list of {path: P, weight: W}"},
    {"validation_file eval_dataset val_dataset valid_data val_data valid_data_path eval_data",
     "data.valid", token_files},
    {"tokenizer tokenizer_name tokenizer_name_or_path tokenizer_type", "data.train", token_files},
    {"label_smoothing label_smoothing_factor ema_decay ema", "",
     "it is not there: the loss is the mean over targets, and weights are the last ones"},
    {"padding_side attention_mask group_by_length dataloader_drop_last", "data.pack",
     "no padding to give: a sequence is a window of the text"},
    {"num_workers dataloader_num_workers", "", "a lane of its own reads ahead"},
};

// Of models.
constexpr OtherName of_models[] = {
    {"swiglu normalization position_embedding_type rotary_pct add_bias_linear", "model.family",
     "llama has SwiGLU, root mean square norms and rotary positions"},
    {"model_type architecture arch architectures", "model.family", "gpt, llama, bert or t5"},
    {"model_name_or_path model_name pretrained_model_name_or_path base_model", "model.import",
     on_disk},
    {"num_layers n_layer num_hidden_layers n_layers", "model.layers", ""},
    {"hidden_size n_embd d_model embed_dim", "model.hidden", ""},
    {"num_attention_heads n_head n_heads num_heads", "model.heads", ""},
    {"num_key_value_heads n_kv_heads num_query_groups n_kv_head", "model.kv_heads", ""},
    {"head_dim kv_channels d_kv", "model.head_size", ""},
    {"intermediate_size ffn_hidden_size d_ff n_inner ffn_dim", "model.ffn", ""},
    {"vocab_size padded_vocab_size", "model.vocab", ""},
    {"max_position_embeddings n_positions", "model.positions",
     "rows of a table of positions, which gpt and bert have; llama needs none"},
    {"hidden_act activation_function hidden_activation", "model.activation", ""},
    {"tie_word_embeddings tie_embeddings", "model.tied", ""},
    {"untie_embeddings_and_output_weights", "model.tied", "the other way round"},
    {"resid_pdrop embd_pdrop hidden_dropout hidden_dropout_prob dropout_rate", "model.dropout", ""},
    {"attn_pdrop attention_probs_dropout_prob", "model.attention_dropout", ""},
    {"rms_norm_eps layer_norm_epsilon layer_norm_eps norm_epsilon", "model.norm_eps", ""},
    {"rotary_base rope_base", "model.rope_theta", ""},
    {"sliding_window window_size", "model.window", "in tokens"},
    {"freeze freeze_layers frozen_parameters", "model.freeze", "patterns of names of parameters"},
    {"lora lora_config peft peft_config use_lora", "model.lora", ""},
    {"lora_r lora_rank lora.r", "model.lora.rank", ""},
    {"lora_alpha", "model.lora.alpha", ""},
    {"lora_dropout", "model.lora.dropout", ""},
    {"lora_target lora_target_modules target_modules", "model.lora.targets", ""},
    {"qlora", "model.lora", "with model.quantize: nf4"},
    {"load_in_4bit bnb_4bit_quant_type", "model.quantize", "nf4, of what is frozen"},
    {"load_in_8bit", "model.quantize", "int8, of what is frozen"},
    {"quantize_base quantization_bit quantization_config", "model.quantize",
     "int8 or nf4, of what is frozen"},
};

// Of types and memory.
constexpr OtherName of_memory[] = {
    {"tf32 allow_tf32", "precision", "fp32 products take no tf32"},
    {"bf16 use_bf16 bfloat16", "precision", "bf16 is the default"},
    {"fp16 half use_fp16 amp loss_scale mixed_precision dtype torch_dtype", "precision",
     lower_precision},
    {"gradient_checkpointing activation_checkpointing activation_checkpoint checkpoint_activations "
     "recompute_activations recompute_granularity use_gradient_checkpointing",
     "plan.activations", checkpointing},
    {"activation_offloading cpu_offloading offload_activations", "plan.activations", offloading},
    {"offload_optimizer offload_optimizer_device optimizer_offload", "plan.optimizer", offloading},
    {"offload_param offload_param_device param_offload cpu_offload", "plan.parameters", offloading},
    {"zero_optimization zero_stage zero use_distributed_optimizer", "plan.shard", stages},
    {"fsdp fsdp_config fully_sharded_data_parallel", "plan.shard", "all is FSDP's FULL_SHARD"},
    {"sharding_strategy", "plan.shard",
     "FULL_SHARD is all, SHARD_GRAD_OP optimizer, NO_SHARD none; HYBRID_SHARD is "
     "plan.shard_ranks: node"},
    {"nvme_path offload_dir offload_folder swap_dir", "memory.nvme.path",
     "with memory.nvme.size beside it"},
    {"max_memory gpu_memory device_memory gpu_memory_utilization", "memory.device",
     "a budget in bytes, as in 20GiB"},
    {"cpu_memory host_memory", "memory.host", "a budget in bytes, as in 100GiB"},
    {"pin_memory pinned", "memory.host", "its pages are pinned where a device copies them"},
    {"stage3_prefetch_bucket_size prefetch_bucket_size backward_prefetch", "plan.prefetch",
     "in blocks"},
    {"aio aio_config", "spill.queue_depth", ""},
    {"overlap_comm overlap_grad_reduce", "", "exchanges overlap with the backward pass always"},
    {"tensor_parallel_size tensor_model_parallel_size tp tp_size pipeline_parallel_size "
     "pipeline_model_parallel_size pp pp_size context_parallel_size sequence_parallel "
     "expert_parallel_size",
     "plan.shard", one_parallelism},
    {"flash_attention use_flash_attn use_flash_attention attn_implementation", "",
     "attention never makes the matrix of scores"},
    {"torch_compile compile", "", "kernels are compiled with the program"},
};

// Of runs and their files.
constexpr OtherName of_runs[] = {
    {"run_name experiment_name", "run.dir", "runs/NAME of NAME.yaml, unless given"},
    {"save_strategy", "run.checkpoint.every", in_optimizer_steps},
    {"logging_strategy", "run.log.every", in_optimizer_steps},
    {"early_stopping patience load_best_model_at_end metric_for_best_model", "run.checkpoint.keep",
     "how many stay; none is chosen by its loss, which metrics.jsonl has"},
    {"deepspeed deepspeed_config accelerate megatron", "",
     "stages and offloads are keys of plan, ranks are started by mpirun; docs/glossary.md"},
    {"backend ddp_backend distributed_backend nccl", "", "ranks talk over MPI"},
    {"num_nodes nnodes hostfile master_addr local_rank", "", "mpirun or srun starts the ranks"},
    {"push_to_hub hub_model_id save_safetensors", "", "`spillway export` writes safetensors"},
    {"output_dir out_dir save_dir logging_dir checkpoint_dir default_root_dir", "run.dir", ""},
    {"init_from load_checkpoint pretrained_checkpoint", "run.init",
     "weights only; a stopped run goes on from run.dir by itself"},
    {"resume_from_checkpoint resume auto_resume", "run.checkpoint.resume",
     "auto: the newest in run.dir"},
    {"overwrite_output_dir", "run.checkpoint.resume", "never begins anew"},
    {"save_steps save_interval checkpoint_interval save_every", "run.checkpoint.every",
     in_optimizer_steps},
    {"save_total_limit keep_last_n max_checkpoints", "run.checkpoint.keep", ""},
    {"eval_steps eval_interval eval_every val_check_interval evaluation_strategy eval_strategy",
     "run.eval.every", in_optimizer_steps},
    {"eval_iters max_eval_batches limit_val_batches", "run.eval.batches", ""},
    {"logging_steps log_interval log_every_n_steps print_freq", "run.log.every",
     in_optimizer_steps},
    {"report_to wandb wandb_project wandb_log", "",
     "metrics.jsonl in run.dir has every logged step (docs/outputs.md)"},
    {"random_seed manual_seed data_seed", "run.seed", ""},
    {"device accelerator", "run.device", "auto, cpu, cuda or cuda:N"},
    {"gpus devices num_gpus n_gpu nproc_per_node world_size num_processes data_parallel_size", "",
     "mpirun -n N says how many ranks there are, run.device what they compute on"},
    {"num_threads omp_num_threads", "run.threads", "of one rank"},
    {"time_limit exit_duration_in_mins max_duration walltime", "run.max_time", "as in 3h50m"},
};

// Returns the name as the table writes it.
std::string plain(std::string_view name) {
  std::string result(name);
  std::ranges::transform(result, result.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::tolower(c));
  });
  return result;
}

bool has_word(std::string_view words, std::string_view word) {
  auto const padded = " " + std::string(words) + " ";
  return padded.find(" " + std::string(word) + " ") != padded.npos;
}

OtherName const* row_of(std::string const& name) {
  auto const all = other_names();
  auto const row = std::ranges::find_if(
      all, [&](OtherName const& other) { return has_word(other.names, name); });
  return row == all.end() ? nullptr : &*row;
}

std::string last_part(std::string const& name) {
  return name.substr(name.rfind('.') + 1);  // npos + 1 is 0, so a name without dots stays whole
}

}  // namespace

std::span<OtherName const> other_names() {
  static auto const all = [] {
    std::vector<OtherName> rows;
    for (std::span<OtherName const> const some :
         {std::span<OtherName const>(of_training), std::span<OtherName const>(of_models),
          std::span<OtherName const>(of_memory), std::span<OtherName const>(of_runs)})
      rows.insert(rows.end(), some.begin(), some.end());
    return rows;
  }();
  return all;
}

OtherName const* other_name(std::string_view name, std::vector<std::string> const& keys) {
  auto const whole = plain(name);
  if (auto const* row = row_of(whole)) return row;
  auto const last = last_part(whole);
  auto const group = whole.substr(0, whole.size() - std::min(whole.size(), last.size() + 1));
  if (auto const* row = row_of(last_part(group) + "." + last)) return row;
  bool const is_ours =
      std::ranges::any_of(keys, [&](std::string const& key) { return last_part(key) == last; });
  return is_ours ? nullptr : row_of(last);
}

std::string advice_of(OtherName const& other) {
  if (other.key.empty()) return std::string(other.remark);
  auto const here = "here it is " + std::string(other.key);
  return other.remark.empty() ? here : here + " (" + std::string(other.remark) + ")";
}

}  // namespace spillway
