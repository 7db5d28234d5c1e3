// A model family appends the forward ops of its models to a Graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.hpp"
#include "graph/graph.hpp"
#include "model/objective.hpp"

namespace spillway {

// Returns config.model with the family's values in place of `auto`, and with the data's vocabulary.
ModelConfig completed(Config const& config, std::int64_t vocab);

// Returns the vocabulary size of the family's published models: GPT-2, BERT, T5 or Llama 2.
std::int64_t published_vocab(Family family);

// Returns what the input asks for or, if it says auto, what the family is trained for. Throws
// Error(bad_input) if the family's graph cannot be trained for what is asked.
Objective objective_of(Config const& config);

// Returns the forward graph of `config.model`, to train or to evaluate, for one micro-batch of
// `arithmetic.micro` sequences. Chunks and parameters have the same order for every purpose, so all
// graphs of a run share parameters by chunk id. Throws as require_positions does.
Graph build_model(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                  Purpose purpose);
// Returns the graph of one step of generating. Graphs that differ only in rows and in whether they
// encode have equal ids for equal tensors, so they also share what is kept from step to step.
Graph build_generator(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                      Decoding const& decoding);

// Returns how many rows a sequence may have at most, or nothing if there is no limit, because
// positions are angles or distances. The model must be completed.
std::optional<std::int64_t> most_rows(ModelConfig const& model);
// Throws Error(bad_input), naming data.sequence, if `rows` is more than `most_rows`.
void require_positions(ModelConfig const& model, std::int64_t rows);

Activation activation_of(ModelConfig const& model);  // `model` must be completed
OptimizerSettings optimizer_of(OptimConfig const& optim);

// Each family has a function that replaces what is `auto`, and one that appends its forward ops to
// a graph without ops. GPT-2 has learned positions, LayerNorm, GELU, a fused product for q, k and
// v, and mostly a tied head. Names are those of GPT2LMHeadModel.
void complete_gpt(ModelConfig& model);
void append_gpt(Config const& config, std::int64_t vocab, Graph& graph);
// BERT has token types, norms behind each sum and a layer in its head; names as in BertForMaskedLM.
void complete_bert(ModelConfig& model);
void append_bert(Config const& config, std::int64_t vocab, Graph& graph);
// T5 has two stacks and adds a bias by distance to scores; names as in T5ForConditionalGeneration.
void complete_t5(ModelConfig& model);
void append_t5(Config const& config, std::int64_t vocab, Graph& graph);
// Llama, Qwen2, Qwen3, Mistral: rotary positions, RMSNorm, SwiGLU; names as in LlamaForCausalLM.
void complete_llama(ModelConfig& model);
void append_llama(Config const& config, std::int64_t vocab, Graph& graph);

}  // namespace spillway
