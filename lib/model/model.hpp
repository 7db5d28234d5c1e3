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

// Returns the objective that data.objective names or, if it is auto, the family's own. Throws
// Error(bad_input) if the family's graph cannot be trained for that objective.
Objective objective_of(Config const& config);

// Returns the forward graph of `config.model`, to train or to evaluate, for one micro-batch of
// `arithmetic.micro` sequences. Chunks and parameters have the same order for every purpose, so all
// graphs of a run share parameters by chunk id. Throws Error(bad_input) if the model cannot have
// the objective or the length of sequences, or if a tensor is too large.
Graph build_model(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                  Purpose purpose);
// Returns the graph of one step of generating. Graphs that differ only in rows and in whether they
// encode have equal ids for equal tensors, so they share the caches that are kept from step to
// step.
Graph build_generator(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                      Decoding const& decoding);

// Returns how many rows a sequence may have at most, or nothing if there is no limit, because
// positions are angles or distances. The model must come from `completed`.
std::optional<std::int64_t> most_rows(ModelConfig const& model);
// Throws Error(bad_input), naming data.sequence, if `rows` is more than `most_rows`.
void require_positions(ModelConfig const& model, std::int64_t rows);

Activation activation_of(ModelConfig const& model);  // `model` must come from `completed`

// Each family has a function that replaces what is `auto`, and one that appends its forward ops to
// a graph without ops. GPT-2 has learned positions, LayerNorm, GELU, a fused product for q, k and
// v, and mostly a tied head. Its parameters have the names of GPT2LMHeadModel.
void complete_gpt(ModelConfig& model);
void append_gpt(Config const& config, std::int64_t vocab, Graph& graph);
// BERT has token types, norms behind each sum and a layer in its head. Its parameters have the
// names of BertForMaskedLM.
void complete_bert(ModelConfig& model);
void append_bert(Config const& config, std::int64_t vocab, Graph& graph);
// T5 has two stacks and adds a bias by distance to scores. Its parameters have the names of
// T5ForConditionalGeneration.
void complete_t5(ModelConfig& model);
void append_t5(Config const& config, std::int64_t vocab, Graph& graph);
// Llama, Qwen2, Qwen3 and Mistral have rotary positions, RMSNorm and SwiGLU. Their parameters have
// the names of LlamaForCausalLM.
void complete_llama(ModelConfig& model);
void append_llama(Config const& config, std::int64_t vocab, Graph& graph);

}  // namespace spillway
