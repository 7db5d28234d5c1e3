// The model families, as small as tests want them: a suite about families runs for every row.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/support/tiny_gpt.hpp"

namespace spillway::test {

struct FamilyCase {
  std::string name;  // in names of tests
  Config config;     // fp32; suites change sizes and what else they are about
};

inline std::ostream& operator<<(std::ostream& out, FamilyCase const& family) {
  return out << family.name;
}

// Graphs come from `tiny_training_graph` of the config, what batches are made of from `vocabulary`
// of the graph.
inline std::vector<FamilyCase> family_cases() {
  auto const of = [](std::string const& family, auto const& change) {
    auto config = tiny_config();
    config.model.family = family;
    change(config.model, config.data);
    return config;
  };
  return {
      {"Gpt", tiny_config()},
      {"GptPacked", of("gpt", [](auto&, auto& data) { data.pack = true; })},
      {"Llama", of("llama",
                   [](auto& model, auto&) {
                     model.heads = 3, model.kv_heads = 1, model.head_size = 10;
                     model.ffn = 44, model.tied = false, model.qkv_bias = true;
                     model.rope_scaling = "llama3", model.rope_factor = 4;
                     model.rope_original_positions = 8;
                   })},
      {"Qwen3", of("llama",
                   [](auto& model, auto& data) {
                     model.heads = 4, model.kv_heads = 2, model.ffn = 40;
                     model.qk_norm = true, model.window = 5, model.window_from = 1;
                     data.pack = true;
                   })},
      {"Bert", of("bert",
                  [](auto& model, auto& data) {
                    model.ffn = 50;
                    data.pack = true;
                  })},
      {"T5", of("t5",
                [](auto& model, auto& data) {
                  model.head_size = 6, model.relative_buckets = 8;
                  model.relative_max_distance = 10, model.decoder_layers = 3;
                  data.target = 11;
                })},
      {"T5Gated", of("t5",
                     [](auto& model, auto& data) {
                       model.gated = true, model.tied = false, model.ffn = 36;
                       data.target = 19;
                     })},
  };
}

}  // namespace spillway::test
