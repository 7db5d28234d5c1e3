// Lists a small model of every family, so that a suite about families can run for each of them.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "config/assign.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test {

struct FamilyCase {
  std::string name;               // a part of the names of tests
  std::vector<std::string> keys;  // settings "a.b=value", as the program's command line has
  Config config;                  // tiny_config() with these keys; tests may change it further
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

// Returns one case or more for each family. tiny_training_graph() makes a graph of a case's
// `config`, and vocabulary() says which tokens a batch for that graph may have.
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
      // Of a block all is frozen, of another a part, and the head's matrix.
      family_case(
          "GptFrozen",
          {"model.freeze=[transformer.wte.weight,transformer.h.0.*,transformer.h.1.ln_1.*]"}),
      family_case("LlamaLora",
                  {"model.family=llama", "model.kv_heads=1", "model.ffn=40", "model.tied=false",
                   "model.lora.rank=4", "model.lora.targets=[q,v,o]", "model.lora.dropout=0.1"}),
      family_case("T5Lora", {"model.family=t5", "model.head_size=6", "data.target=11",
                             "model.lora.rank=3", "model.lora.targets=all", "model.lora.alpha=3"}),
      // Frozen matrices in 8 and in 4 bits, read in the forward pass and, above adapters, in the
      // backward pass.
      family_case("LlamaNf4", {"model.family=llama", "model.kv_heads=1", "model.ffn=40",
                               "model.tied=false", "model.lora.rank=4", "model.quantize=nf4"}),
      family_case("GptInt8", {"model.freeze=[transformer.h.0.*,transformer.h.1.attn.*]",
                              "model.quantize=int8"}),
  };
}

// Returns all cases but the first. Suites that test many plans of the first case test only a sample
// of these plans with the other cases.
inline std::vector<FamilyCase> other_families() {
  auto all = family_cases();
  all.erase(all.begin());
  return all;
}

}  // namespace spillway::test
