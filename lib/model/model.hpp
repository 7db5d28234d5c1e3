// Model families: each one appends forward ops to a Graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.hpp"
#include "graph/graph.hpp"
#include "model/objective.hpp"

namespace spillway {

// Replaces what the input left to `auto` by the family's values, and the vocabulary by the data's.
ModelConfig completed(Config const& config, std::int64_t vocab);

// The tokens of the family's published models: of GPT-2, BERT, T5 and Llama 2.
std::int64_t published_vocab(std::string const& family);

// What the input asks for or, where it says auto, what the family is trained for. Throws
// Error(bad_input) for what the family's graph cannot be trained for.
Objective objective_of(Config const& config);

// The forward graph of `config.model` for one micro-batch of `arithmetic.micro` sequences, to train
// or to evaluate. Chunk and parameter order is the same for every purpose, so all graphs of a run
// share parameters by chunk id. Throws as require_positions does.
Graph build_model(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                  Purpose purpose);
// The graph of one step of generating. Graphs that differ only in rows and in whether they encode
// have equal ids for equal tensors, so they also share what is kept from step to step.
Graph build_generator(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                      Decoding const& decoding);

// Most rows of a sequence for which the model, which must be completed, has positions; none: their
// number has no limit, since positions are angles or distances.
std::optional<std::int64_t> most_rows(ModelConfig const& model);
// Throws Error(bad_input) that names data.sequence where its rows are more than that.
void require_positions(ModelConfig const& model, std::int64_t rows);

Activation activation_of(ModelConfig const& model);  // which must be completed

// Each family completes what is `auto`, and appends a forward graph to an empty one.
// GPT-2: learned positions, LayerNorm, GELU, fused qkv, tied head; names as GPT2LMHeadModel has
// them.
void complete_gpt(ModelConfig& model);
void append_gpt(Config const& config, std::int64_t vocab, Graph& graph);
// BERT: token types, norms behind each sum, a head with a layer of its own; as BertForMaskedLM.
void complete_bert(ModelConfig& model);
void append_bert(Config const& config, std::int64_t vocab, Graph& graph);
// T5: encoder and decoder, a bias of attention by distance; as T5ForConditionalGeneration.
void complete_t5(ModelConfig& model);
void append_t5(Config const& config, std::int64_t vocab, Graph& graph);
// Llama, Qwen2, Qwen3, Mistral: rotary positions, RMSNorm, SwiGLU; as LlamaForCausalLM.
void complete_llama(ModelConfig& model);
void append_llama(Config const& config, std::int64_t vocab, Graph& graph);

}  // namespace spillway
