#include "config/keys.hpp"

namespace spillway {
namespace {

// These constants bound the values of single keys. Products of keys are checked in check.cpp and
// when graphs are made.
constexpr std::int64_t many = 1'000'000'000, many_steps = 1'000'000'000'000;
constexpr std::int64_t most_layers = 5000;  // planning so many layers takes about a minute

constexpr std::int64_t most_vocab = 2'147'483'647;

constexpr auto decides_model = Scope::model, is_of_the_job = Scope::job;
using Families = std::vector<Family>;
Families const gpt = {Family::gpt}, bert = {Family::bert}, t5 = {Family::t5},
               llama = {Family::llama}, gpt_bert = {Family::gpt, Family::bert},
               gpt_bert_t5 = {Family::gpt, Family::bert, Family::t5},
               llama_t5 = {Family::llama, Family::t5};
using Optimizers = std::vector<Optimizer>;
Optimizers const adafactor = {Optimizer::adafactor}, muon = {Optimizer::muon},
                 with_eps = {Optimizer::adamw, Optimizer::adamw_8bit, Optimizer::muon},
                 with_betas = {Optimizer::adamw, Optimizer::adamw_8bit, Optimizer::lion,
                               Optimizer::muon},
                 with_momentum = {Optimizer::sgd, Optimizer::muon},
                 with_moments = {Optimizer::adamw, Optimizer::lion, Optimizer::sgd};
Families const all_families;
constexpr std::initializer_list<Precision> wide_first = {Precision::fp32, Precision::bf16};

std::vector<Key> model_keys(ModelConfig& model) {
  return {
      {"model.import", PathField{&model.import_from}, "none", "",
       "A directory of Hugging Face or PEFT, a checkpoint, or a run directory (its newest one): it "
       "says all other keys of the model but dropout, what is frozen and, unless it has them, "
       "adapters, and what is auto of data's ids, where it knows them. "
       "run.init is this directory where it has weights and run.init names nothing else."},
      {"model.family", ChoiceField{&model.family}, "", "", "The architecture.", decides_model},
      {"model.layers", IntegerField{&model.layers, 1, most_layers}, "", "blocks",
       "Number of transformer blocks; planning takes time in proportion.", decides_model},
      {"model.hidden", IntegerField{&model.hidden, 1, 1'000'000}, "", "",
       "Width of the residual stream.", decides_model},
      {"model.heads", IntegerField{&model.heads, 1, 100'000}, "", "",
       "Attention heads; divides hidden where head_size is auto.", decides_model},
      {"model.kv_heads", IntegerField{&model.kv_heads, 0, 100'000}, "auto", "",
       "Heads of keys and values, each for as many of queries; auto (0): as many as heads.",
       decides_model, llama},
      {"model.head_size", IntegerField{&model.head_size, 0, 100'000}, "auto", "",
       "Width of a head; auto (0): hidden / heads.", decides_model, llama_t5},
      {"model.decoder_layers", IntegerField{&model.decoder_layers, 0, most_layers}, "auto",
       "blocks", "Layers of the decoder, beside `layers` of the encoder; auto (0): as many.",
       decides_model, t5},
      {"model.ffn", IntegerField{&model.ffn, 0, 10'000'000}, "auto", "",
       "Width inside the MLP; auto (0): 4 x hidden, llama 8/3 x hidden, rounded up to 256.",
       decides_model},
      {"model.activation", ChoiceField{&model.activation}, "", "",
       "Inside the MLP; auto: gelu_tanh for gpt, gelu_erf for bert, relu for t5, and gelu_tanh "
       "where that is gated.",
       decides_model, gpt_bert_t5},
      {"model.gated", BoolField{&model.gated}, "", "",
       "The MLP multiplies its activation by a second product (T5 v1.1).", decides_model, t5},
      {"model.vocab", IntegerField{&model.vocab, 0, most_vocab}, "auto", "tokens",
       "Vocabulary; auto (0): that of the token file and, after it, the special tokens that "
       "data.objective needs.",
       decides_model},
      {"model.positions", IntegerField{&model.positions, 0, many}, "auto", "",
       "Rows of the table of positions; auto (0): data.sequence.", decides_model, gpt_bert},
      {"model.token_types", IntegerField{&model.token_types, 1, many}, "", "",
       "Rows of the table of token types; what is trained on has type 0.", decides_model, bert},
      {"model.tied", BoolField{&model.tied}, "", "",
       "The head shares the token embedding's weights.", decides_model},
      {"model.bias", BoolField{&model.bias}, "", "", "Biases in linear layers and norms.",
       decides_model, gpt},
      {"model.qkv_bias", BoolField{&model.qkv_bias}, "", "",
       "Biases of queries, keys and values (Qwen2).", decides_model, llama},
      {"model.qk_norm", BoolField{&model.qk_norm}, "", "",
       "Every head of queries and keys is normalised (Qwen3).", decides_model, llama},
      {"model.scale_output", ChoiceField{&model.scale_output}, "", "",
       "The head's input is divided by the root of hidden; auto: where the head is tied.",
       decides_model, t5},
      {"model.dropout", RealField{&model.dropout, 0, 0.99}, "", "",
       "Probability of dropping an activation in training."},
      {"model.attention_dropout", RealField{&model.attention_dropout, 0, 0.99}, "", "",
       "Probability of dropping a weight of attention in training."},
      {"model.norm_eps", RealField{&model.norm_eps, 0, 1}, "auto", "",
       "Added to the variance in norms; auto (0): 1e-5 for gpt, 1e-12 for bert, else 1e-6.",
       decides_model},
  };
}

// Returns the keys that say how attention depends on the positions of tokens.
std::vector<Key> distance_keys(ModelConfig& model) {
  return {
      {"model.rope_theta", RealField{&model.rope_theta, 0, 1e12, true}, "", "",
       "Base of the rotary positions' wavelengths.", decides_model, llama},
      {"model.rope_scaling", ChoiceField{&model.rope_scaling}, "", "",
       "How rotary positions are stretched: all alike, or long wavelengths only.", decides_model,
       llama},
      {"model.rope_factor", RealField{&model.rope_factor, 0, 1e6, true}, "", "",
       "What rotary positions are stretched by.", decides_model, llama},
      {"model.rope_low_freq_factor", RealField{&model.rope_low_freq_factor, 0, 1e6, true}, "", "",
       "llama3: wavelengths over rope_original_positions / this are stretched in full.",
       decides_model, llama},
      {"model.rope_high_freq_factor", RealField{&model.rope_high_freq_factor, 0, 1e6, true}, "", "",
       "llama3: wavelengths under rope_original_positions / this are left as they are.",
       decides_model, llama},
      {"model.rope_original_positions", IntegerField{&model.rope_original_positions, 1, many}, "",
       "tokens", "llama3: the length of sequences that positions were made for.", decides_model,
       llama},
      {"model.window", IntegerField{&model.window, 0, many}, "none", "tokens",
       "Attention sees its own token and those before it, so many in all; none: the whole "
       "sequence.",
       decides_model, llama},
      {"model.window_from", IntegerField{&model.window_from, 0, most_layers}, "", "",
       "The first layer, from 0, that has the window.", decides_model, llama},
      {"model.relative_buckets", IntegerField{&model.relative_buckets, 2, 1'000'000}, "", "",
       "Buckets of distances, each with a bias of attention.", decides_model, t5},
      {"model.relative_max_distance", IntegerField{&model.relative_max_distance, 2, many}, "", "",
       "Distances from here on share the last bucket.", decides_model, t5},
  };
}

// Returns the keys that say which parameters are trained.
std::vector<Key> trained_keys(ModelConfig& model) {
  auto& lora = model.lora;
  return {
      {"model.freeze", TextsField{&model.freeze, "pattern"}, "none", "",
       "Parameters that are not trained, by their names in Hugging Face's files, with * and ?: "
       "what is frozen has neither gradient nor optimizer state."},
      {"model.lora.rank", IntegerField{&lora.rank, 1, 100'000}, "none", "",
       "Trains adapters of this rank (LoRA) and nothing else: x w^T becomes x w^T + alpha / rank "
       "dropout(x) A^T B^T, where A and B are new and all else is frozen.",
       decides_model},
      {"model.lora.alpha", RealField{&lora.alpha, 0, 1e6, true}, "auto", "",
       "What adapters make is multiplied by this / rank; auto: twice the rank.", decides_model},
      {"model.lora.targets", TextsField{&lora.targets, "name of a linear layer"}, "auto", "",
       "Linear layers with adapters: q, k, v (of gpt: qkv), o, gate, up, down; names as PEFT has "
       "them (q_proj); or all. auto: q and v, of gpt qkv.",
       decides_model},
      {"model.lora.dropout", RealField{&lora.dropout, 0, 0.99}, "", "",
       "Probability of dropping an element of what an adapter reads, in training."},
      {"model.quantize", ChoiceField{&model.quantize}, "", "",
       "How frozen matrices of layers are kept. none: in the run's precision. int8: 8 bits an "
       "element, with a scale a row. nf4: bitsandbytes' 4 bits an element, with scales that are "
       "quantized too.",
       decides_model},
  };
}

std::vector<Key> data_keys(DataConfig& data) {
  return {
      {"data.train", GlobsField{&data.train, &data.weights}, "none", "",
       "Token files to train on (HDF5, or llm.c .bin; docs/tokens.md). A list with weights, such "
       "as "
       "[{path: a.h5, weight: 3}, {path: b.h5, weight: 1}], is a mix: sequences come from its "
       "elements in this proportion, from each in epochs of its own."},
      {"data.valid", GlobsField{&data.valid}, "none", "",
       "Token files for the validation loss; none: no evaluation. What data.train names too is not "
       "trained on."},
      {"data.changed", ChoiceField{&data.changed}, "", "",
       "How a run goes on whose files, their order, data.sequence or run.seed (with spans also "
       "data.pack, data.target and data.eos_id) are not its checkpoint's. finish: the epoch under "
       "way is completed first, without any text twice, by what is left of it and then by files "
       "that are new; where that cannot be, as files are gone or sequences end elsewhere, the run "
       "is refused. anew: an epoch of the data as they are now begins at once."},
      {"data.sequence", IntegerField{&data.sequence, 1, many}, "", "tokens",
       "Length of a training sequence, at most model.positions where a model has a table of them; "
       "with spans the encoder's."},
      {"data.pack", BoolField{&data.pack}, "", "",
       "Attention stays inside documents, positions start again in each, and what ends a document "
       "is not asked for the next one's first token (next); false: a sequence is a window of the "
       "text, whatever documents it cuts. With spans, a sequence then ends where its rows are "
       "full."},
      {"data.objective", ChoiceField{&data.objective}, "", "",
       "What is predicted. next: every token's successor; masked: 15 % of the tokens, hidden; "
       "spans: 15 % of the tokens, in spans that sentinels stand for; auto: by family."},
      {"data.target", IntegerField{&data.target_length, 1, many}, "auto", "tokens",
       "Length of the decoder's sequence (spans); auto: what the spans of data.sequence need."},
      {"data.mask_id", IntegerField{&data.mask_id, 0, most_vocab}, "auto", "",
       "The token that hides others (masked); auto: the highest id of model.vocab."},
      {"data.pad_id", IntegerField{&data.pad_id, 0, most_vocab}, "auto", "",
       "The token of empty rows, with which the decoder starts (spans); auto: the highest id of "
       "model.vocab below the sentinels."},
      {"data.eos_id", IntegerField{&data.eos_id, 0, most_vocab}, "auto", "",
       "The token that ends a text: it is never hidden, and closes what spans were taken from; "
       "auto: the byte tokenizer's separator where its files may have it, else none."},
      {"data.sentinel_id", IntegerField{&data.sentinel_id, 0, most_vocab}, "auto", "",
       "The token that stands for a sequence's first span; those of the others count down from it. "
       "auto: the highest id of model.vocab, with room for all that a sequence needs, at least "
       "100."},
  };
}

std::vector<Key> batch_keys(BatchConfig& batch) {
  return {
      {"batch.sequences", IntegerField{&batch.sequences, 1, many}, "", "sequences",
       "Global batch of one optimizer step, over all ranks."},
      {"batch.micro", IntegerField{&batch.micro, 1, many}, "auto", "sequences",
       "Micro-batch of one rank, fixed for the run. auto may follow from measured times: give it "
       "where two fresh runs shall be equal to the bit."},
      {"batch.mlp_chunk", IntegerField{&batch.mlp_chunk, 0, many}, "auto", "rows",
       "How many rows the MLP of a layer takes at a time, where a micro-batch has more: what lies "
       "between its products then exists for these rows alone, and is made again in the backward "
       "pass. 0: all rows at once. auto: all, or 4096 where sequences have 16384 tokens and more, "
       "if nothing else fits or if a step is then expected to take 5 % less; give it where two "
       "fresh runs shall be equal to the bit."},
      {"batch.share", IntegersField{&batch.share, 1, 1'000'000}, "equal", "",
       "The parts of a step's micro-batches that ranks run, one by rank, for ranks that are not "
       "equally fast: with [2, 1] rank 0 runs two of three. Numbers are rounded so that all are "
       "run, at least one by each rank. Every sequence counts the same. The plan then stays for "
       "the run, and neither plan.shard: all nor optim.reduction: each goes with it."},
  };
}

std::vector<Key> optim_keys(OptimConfig& optim) {
  return {
      {"optim.name", ChoiceField{&optim.name}, "", "",
       "The optimizer. adamw_8bit: AdamW with moments in 8 bits, as bitsandbytes has it; lion "
       "wants a learning rate 3 to 10 times smaller; sgd: torch's, without dampening; adafactor: "
       "torch's, whose learning rate is relative to each parameter (usual: 0.01); muon: torch's, "
       "for matrices of layers, and AdamW for all else."},
      {"optim.lr", RealField{&optim.lr, 0, 1000}, "", "", "Peak learning rate."},
      {"optim.min_lr", RealField{&optim.min_lr, 0, 1000}, "", "",
       "Learning rate at the end of the schedule; at most lr. Unless given, it is lr / 10 where "
       "that "
       "is below the default."},
      {"optim.warmup", IntegerField{&optim.warmup, 0, many_steps}, "", "steps",
       "Linear rise of the learning rate; may be longer than the run."},
      {"optim.schedule", ChoiceField{&optim.schedule}, "", "",
       "Fall of the learning rate after the warm-up."},
      {"optim.weight_decay", RealField{&optim.weight_decay, 0, 1000}, "", "",
       "Decoupled weight decay; with sgd what torch.optim.SGD does: it is added to the gradient."},
      {"optim.decay_all", BoolField{&optim.decay_all}, "", "",
       "Decay norms, biases and embeddings too."},
      {"optim.decay_embeddings", BoolField{&optim.decay_embeddings}, "", "",
       "Decay embeddings too, but not norms and biases: the groups of the Hugging Face Trainer."},
      {"optim.beta1", RealField{&optim.beta1, 0, 0.999999999}, "", "",
       "Decay of the first moment; of lion: what the moment counts in a step.", Scope::run,
       all_families, with_betas},
      {"optim.beta2", RealField{&optim.beta2, 0, 0.999999999}, "", "",
       "Decay of the second moment; of lion: of its moment.", Scope::run, all_families, with_betas},
      {"optim.momentum", RealField{&optim.momentum, 0, 0.999999999}, "auto", "",
       "Decay of the sum of gradients by which it steps; auto (0): of sgd none, and no state is "
       "kept; of muon 0.95, by Nesterov's form.",
       Scope::run, all_families, with_momentum},
      {"optim.eps", RealField{&optim.eps, 0, 1, true}, "", "",
       "Added to the root of the second moment.", Scope::run, all_families, with_eps},
      {"optim.beta2_decay", RealField{&optim.beta2_decay, -10, 0}, "", "",
       "The newest gradient's square counts step^this in averages of squares.", Scope::run,
       all_families, adafactor},
      {"optim.clip_threshold", RealField{&optim.clip_threshold, 1, 1e6}, "", "",
       "Largest root mean square of a parameter's update, before it is multiplied by the learning "
       "rate and the parameter's own (torch's d).",
       Scope::run, all_families, adafactor},
      {"optim.eps2", RealField{&optim.eps2, 0, 1, true}, "", "",
       "Least root mean square of a parameter that its steps are relative to.", Scope::run,
       all_families, adafactor},
      {"optim.adjust_lr", ChoiceField{&optim.adjust_lr}, "", "",
       "What the learning rate is multiplied by for a matrix of r rows and c columns. "
       "match_rms_adamw: 0.2 sqrt(max(r, c)), so that learning rate and decay of AdamW serve; "
       "original: sqrt(max(1, r / c)), which wants some 0.02.",
       Scope::run, all_families, muon},
      {"optim.adamw_lr", RealField{&optim.adamw_lr, 0, 1000}, "auto", "",
       "Peak learning rate of what AdamW updates beside muon; auto (0): optim.lr. Warm-up and "
       "schedule change it as they change optim.lr.",
       Scope::run, all_families, muon},
      {"optim.clip", RealField{&optim.clip}, "", "",
       "Largest global gradient norm; 0: no clipping."},
      {"optim.moments", ChoiceField{&optim.moments, wide_first}, "", "",
       "Storage of moments; bf16 is rounded by draws, so that errors do not grow with steps.",
       Scope::run, all_families, with_moments},
      {"optim.gradients", ChoiceField{&optim.gradients, wide_first}, "", "",
       "Storage of gradients; bf16 only with precision bf16. Sums in bf16 are rounded after every "
       "micro-batch: their error grows with the number of these, and from some 256 on what comes "
       "is lost."},
      {"optim.reduction", ChoiceField{&optim.reduction}, "", "",
       "Ranks sum gradients on the last micro-batch of a step (auto), or on each one."},
      {"optim.non_finite", ChoiceField{&optim.non_finite}, "", "",
       "A step whose loss or gradient is not finite: stop the run (exit 7) or skip the step."},
  };
}

std::vector<Key> precision_keys(Precision& precision) {
  return {
      {"precision", ChoiceField{&precision}, "", "",
       "Of weights and activations; sums are fp32 in both."},
  };
}

std::vector<Key> memory_keys(MemoryConfig& memory) {
  return {
      {"memory.device", BytesField{&memory.device_bytes, 4096}, "auto", "bytes per rank",
       "Budget of the device arena; budgets above the memory that there is are refused; auto: what "
       "is free, less a margin."},
      {"memory.host", BytesField{&memory.host_bytes, 4096, true}, "auto", "bytes per rank",
       "Budget of the host arena; none: no host tier, where a device with memory of its own has "
       "only batches and scalars; auto: with plan --machine that machine's, else none, as on CPUs "
       "the device arena is main memory too."},
      {"memory.nvme.path", PathsField{&memory.nvme_paths}, "auto", "",
       "Directory of the spill file, or a list of directories, one on each drive, over which it is "
       "striped; a relative one is made, an absolute one must be there. "
       "memory.nvme: none, no spilling; memory.nvme: auto, with plan "
       "--machine that machine's drive, else none.",
       is_of_the_job},
      {"memory.nvme.size", BytesField{&memory.nvme_bytes, 4096, true}, "auto", "bytes per rank",
       "Budget of the spill file, over all its drives, which takes 16 MiB more for pieces that "
       "must move; given with the path."},
  };
}

std::vector<Key> plan_keys(PlanConfig& plan) {
  constexpr bool has_nvme = true;
  return {
      {"plan.activations", ActivationsField{&plan.activations}, "", "",
       "Fate of saved activations, one per layer, the last one repeating; light: only what is "
       "cheap is made again; a fraction: of the rows that leave."},
      {"plan.parameters", PlacesField{&plan.parameters, has_nvme}, "", "",
       "Where parameters lie between uses, one per chunk, the last one repeating."},
      {"plan.gradients", PlacesField{&plan.gradients, has_nvme}, "", "",
       "Where gradients are collected, one per chunk, the last one repeating. Sums on NVMe come to "
       "the device for every group of micro-batches and go back; those of parameters that are used "
       "twice, or all with optim.reduction: each, then stay on the device."},
      {"plan.optimizer", PlacesField{&plan.optimizer, has_nvme}, "", "",
       "Where moments and remainders lie, one per chunk, the last one repeating."},
      {"plan.update", PlacesField{&plan.update}, "", "",
       "Where the optimizer runs, one per chunk, the last one repeating; auto: on the host lane, "
       "beside the next forward, where its state is not on the device."},
      {"plan.shard", ShardsField{&plan.shard}, "", "",
       "What ranks share out, so that each keeps a slice, one per chunk, the last one repeating: "
       "optimizer state and sums of gradients (optimizer and gradients are the same), or all, so "
       "parameters, too."},
      {"plan.shard_ranks", ChoiceField{&plan.shard_ranks}, "", "",
       "Which ranks share it out: those of each node, so that every node keeps a copy and "
       "parameters never cross the network, or all."},
      {"plan.prefetch", IntegerField{&plan.prefetch, 0, 100'000}, "auto", "blocks",
       "How far ahead what is not on the device is brought back."},
      {"plan.group", IntegerField{&plan.group, 1, 1024}, "auto", "micro-batches",
       "How many micro-batches pass each layer one after another, before the first passes the next "
       "layer: parameters that are not on the device are fetched once for all of them, and sums of "
       "gradients in host memory or on NVMe come to a device and go back once."},
      {"plan.early", IntegerField{&plan.early, 0, 100}, "auto", "percent",
       "Where no update waits for the norm of all gradients (optim.clip: 0 and optim.non_finite: "
       "stop): how many of the chunks that the host updates are updated as soon as their gradient "
       "is complete. The others follow the backward pass, those first that the next forward pass "
       "reads first. Elsewhere it can only be 100."},
      {"plan.replan", BoolField{&plan.replan}, "", "",
       "Where steps take longer or shorter than planned, search again and go on with another plan "
       "if that pays; what the other plan keys say holds."},
      {"plan.file", PathField{&plan.file}, "none", "",
       "A saved plan to use; the other plan keys stay auto then."},
  };
}

std::vector<Key> run_keys(RunConfig& run) {
  return {
      {"run.steps", IntegerField{&run.steps, 0, many_steps}, "", "steps",
       "Optimizer steps in all, those before a restart included."},
      {"run.seed", SeedField{&run.seed}, "", "", "Of the weights, the data order and dropout."},
      {"run.device", NumberedNameField{&run.device, "auto", {"cuda"}, {"cpu", "cuda"}}, "auto", "",
       "What computes. cuda: each of a node's ranks has a GPU of its own, by its local rank; "
       "cuda:N: the ranks share the one with this number; cpu: the cores; auto: GPUs where their "
       "module is installed and the machine has some, else the cores."},
      {"run.threads", IntegerField{&run.threads, 1, 65'536}, "auto", "threads per rank",
       "Compute threads; auto: this rank's share of the cores, or fewer where OMP_THREAD_LIMIT "
       "allows no more. OMP_NUM_THREADS does not count."},
      {"run.host_threads", IntegerField{&run.host_threads, 1, 4096}, "auto", "threads per rank",
       "Threads of the host lane, which share its updates; they change no bit. auto: as many as "
       "the "
       "machine's rates assume (measured, or its file's cores.host); 1 where device memory is main "
       "memory, whose cores compute."},
      {"run.dir", PathField{&run.dir}, "auto", "",
       "Everything the run writes goes here; auto: runs/NAME, NAME the input file's own without "
       "its ending.",
       is_of_the_job},
      {"run.init", PathField{&run.init}, "none", "",
       "A checkpoint, a run directory (its newest one), or a directory of Hugging Face or PEFT, "
       "whose weights the run starts from."},
      {"run.max_time", DurationField{&run.max_time_s, true}, "none", "",
       "Checkpoint and exit with 75 before this (e.g. 3h50m), the checkpoint's seconds counted; "
       "auto: before this job's limit, which Slurm or PBS is asked for; elsewhere none.",
       is_of_the_job},
      {"run.peer_timeout", DurationField{&run.peer_timeout_s}, "", "",
       "A rank that waits this long without a word from another one takes it for lost, names it "
       "and ends the run (6). Time in which a rank itself is suspended does not count."},
      {"run.checkpoint.every", IntegerField{&run.checkpoint.every, 0, many_steps}, "", "steps",
       "Between checkpoints; 0: only at the end."},
      {"run.checkpoint.minutes", RealField{&run.checkpoint.minutes, 0, 1e9, true}, "none",
       "minutes", "Longest time between checkpoints."},
      {"run.checkpoint.keep", IntegerField{&run.checkpoint.keep, 1, many}, "", "",
       "How many of the newest checkpoints stay."},
      {"run.checkpoint.resume", ChoiceField{&run.checkpoint.resume}, "", "",
       "From the newest checkpoint in run.dir: all of it, nothing, or only the weights. What never "
       "and weights begin goes on when the same is given again (with the same run.init), until it "
       "has run.steps; then they begin another run."},
      {"run.eval.every", IntegerField{&run.eval_every, 0, many_steps}, "", "steps",
       "Between evaluations; 0: only at the end."},
      {"run.eval.batches", IntegerField{&run.eval_batches, 1, many}, "", "batches",
       "Global batches of one evaluation."},
      {"run.log.every", IntegerField{&run.log_every, 1, many}, "", "steps",
       "Between lines of metrics.jsonl."},
      {"run.log.tensorboard", BoolField{&run.log_tensorboard}, "", "",
       "Also write what is logged to an event file in run.dir, a file a job, which TensorBoard "
       "shows."},
      {"run.trace", IntegersField{&run.trace, 1, many_steps}, "none", "",
       "A step, numbered as in metrics.jsonl, or a list of steps, whose lanes rank 0 writes to "
       "run.dir/trace.json for Perfetto (docs/trace.md), while training goes on.",
       is_of_the_job},
  };
}

std::vector<Key> spill_keys(SpillConfig& spill) {
  return {
      {"spill.queue_depth", IntegerField{&spill.queue_depth, 1, 4096}, "", "",
       "Transfers of at most 1 MiB that are under way together."},
      {"spill.checksum", BoolField{&spill.checksum}, "", "",
       "Check all that comes back from the spill file, in pieces of 1 MiB."},
      {"spill.max_write_per_day", BytesField{&spill.max_write_per_day_bytes}, "unlimited",
       "bytes per node",
       "For the drive's endurance: plans that would write more are not chosen. Checkpoints and "
       "what a run writes once are not counted."},
  };
}

std::vector<Key> debug_keys(DebugConfig& debug) {
  return {
      {"debug.poison", BoolField{&debug.poison}, "", "", "Fill dead lifetimes with NaN patterns."},
      {"debug.locked_allocator", BoolField{&debug.locked_allocator}, "", "",
       "Abort on an allocation after step 0."},
      {"debug.force_backend", ChoiceField{&debug.force_backend}, "", "",
       "What moves spilled bytes: io_uring, or threads (posix). auto takes threads only without "
       "io_uring, and registers what the drive uses only beside a device with memory of its own; "
       "uring registers it everywhere, uring-plain nowhere."},
      {"debug.kernels", ChoiceField{&debug.kernels}, "", "",
       "Products and attention: what is fastest here, or plain loops that give the same bits on "
       "all x86 processors."},
      {"debug.fault",
       NumberedNameField{
           &debug.fault,
           "none",
           {"storage-read", "storage-write", "storage-read-all", "storage-write-all",
            "storage-random", "storage-slow", "drive-told-slow", "rank-told-slow", "kill-rank"}},
       "none", "",
       "For tests: the N-th read or write of every rank's spill file fails, or all from the N-th "
       "on, or many as N seeds it (late, short, damaged, with errors), or all are slow from the "
       "N-th transfer on (20 MB/s), or re-plans are told from step N on of steps as a drive of a "
       "100,000th of its rate would make them, or reports are told of steps of 20 s, from step N "
       "to 2N with a last rank for which others wait half of it, or that rank dies before step N."},
      {"debug.machine", PathField{&debug.machine}, "none", "",
       "A machine file to plan with, instead of measuring the machine."},
      {"debug.log_samples", BoolField{&debug.log_samples}, "", "",
       "Every rank appends what it has trained on to run.dir/samples-<rank>.txt: step, sample, "
       "window of the data, epoch. Each job numbers windows in the files that it has: where those "
       "have changed, only numbers of one job can be compared."},
  };
}

}  // namespace

std::vector<Key> keys_of(Config& c) {
  std::vector<Key> keys;
  for (auto const& group : {model_keys(c.model), distance_keys(c.model), trained_keys(c.model),
                            data_keys(c.data), batch_keys(c.batch), optim_keys(c.optim),
                            precision_keys(c.precision), memory_keys(c.memory), plan_keys(c.plan),
                            run_keys(c.run), spill_keys(c.spill), debug_keys(c.debug)}) {
    keys.insert(keys.end(), group.begin(), group.end());
  }
  return keys;
}

std::vector<std::string_view> const& later_keys() {
  static std::vector<std::string_view> const names = {"debug.checksum_all"};
  return names;
}

}  // namespace spillway
