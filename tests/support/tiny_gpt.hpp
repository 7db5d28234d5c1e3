// Makes the configuration and the graphs of a GPT that is small enough for tests.
#pragma once

#include <cstdint>

#include "graph/build.hpp"
#include "model/model.hpp"

namespace spillway::test {

inline constexpr std::int64_t kTinyVocab = 61;

inline Config tiny_config() {
  Config config;
  config.model.layers = 2;
  config.model.hidden = 32;
  config.model.heads = 2;
  config.data.sequence = 16;
  config.precision = Precision::fp32;
  return config;
}

inline Arithmetic tiny_arithmetic(Config const& config, std::int64_t ranks = 1) {
  Arithmetic arithmetic;
  arithmetic.precision = config.precision;
  arithmetic.gradients = config.optim.gradients;
  arithmetic.moments = config.optim.moments;
  arithmetic.reduction = config.optim.reduction.value_or(Reduction::last);
  arithmetic.ranks = ranks;
  arithmetic.micro = 2;
  arithmetic.sequence = config.data.sequence;
  arithmetic.attention_tile = 8;
  arithmetic.mlp_chunk = config.batch.mlp_chunk.value_or(0);
  arithmetic.loss_chunk = 24;  // does not divide the number of rows, so the last portion is smaller
  return arithmetic;
}

inline Graph tiny_forward(Config const& config, Purpose purpose = Purpose::train,
                          std::int64_t ranks = 1) {
  auto const arithmetic = tiny_arithmetic(config, ranks);
  auto const rows = config.data.sequence;
  if (purpose == Purpose::generate)
    return build_generator(config, kTinyVocab, arithmetic, {rows, rows, rows});
  return build_model(config, kTinyVocab, arithmetic, purpose);
}

inline Graph tiny_training_graph(Config const& config, std::int64_t ranks = 1) {
  Graph graph = tiny_forward(config, Purpose::train, ranks);
  append_backward(graph);
  append_update(graph);
  return graph;
}

}  // namespace spillway::test
