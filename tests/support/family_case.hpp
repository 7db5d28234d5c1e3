// The model families, as small as tests want them: a suite about families runs for every row.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "config/assign.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test {

struct FamilyCase {
  std::string name;               // in names of tests
  std::vector<std::string> keys;  // "a.b=value", for runs of the program
  Config config;                  // the tiny one with these keys; suites change sizes and the like
};

inline std::ostream& operator<<(std::ostream& out, FamilyCase const& family) {
  return out << family.name;
}

inline FamilyCase family_case(std::string name, std::vector<std::string> keys) {
  auto config = tiny_config();
  Origins origins;
  for (auto const& key : keys) assign_override(config, origins, key);
  return {std::move(name), std::move(keys), config};
}

// Graphs come from `tiny_training_graph` of the config, what batches are made of from `vocabulary`
// of the graph.
inline std::vector<FamilyCase> family_cases() {
  return {
      family_case("Gpt", {}),
      family_case("GptPacked", {"data.pack=true"}),
      family_case("Llama", {"model.family=llama", "model.heads=3", "model.kv_heads=1",
                            "model.head_size=10", "model.ffn=44", "model.tied=false",
                            "model.qkv_bias=true", "model.rope_scaling=llama3",
                            "model.rope_factor=4", "model.rope_original_positions=8"}),
      family_case("Qwen3", {"model.family=llama", "model.heads=4", "model.kv_heads=2",
                            "model.ffn=40", "model.qk_norm=true", "model.window=5",
                            "model.window_from=1", "data.pack=true"}),
      family_case("Bert", {"model.family=bert", "model.ffn=50", "data.pack=true"}),
      family_case("T5",
                  {"model.family=t5", "model.head_size=6", "model.relative_buckets=8",
                   "model.relative_max_distance=10", "model.decoder_layers=3", "data.target=11"}),
      family_case("T5Gated", {"model.family=t5", "model.gated=true", "model.tied=false",
                              "model.ffn=36", "data.target=19"}),
  };
}

// Those that a suite which walks plans of the first in full takes a sample of.
inline std::vector<FamilyCase> other_families() {
  auto all = family_cases();
  all.erase(all.begin());
  return all;
}

}  // namespace spillway::test
