// Says which linear layers of a model get adapters (LoRA), and what adapters' parameters are
// called.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace spillway {

// Replaces what is `auto` in model.lora, and names of targets by short ones in one order, so that
// what means the same is equal.
void complete_lora(ModelConfig& model);

// Says which parameters of the model are trained, such as "adapters of rank 16, alpha 32, of q, v";
// "" if all are.
std::string trained_words(ModelConfig model);

// Returns targets that mean these linear layers of all `modules` of a model, as PEFT reads them:
// the last parts of their names, the last two if other modules have the last one too, or whole
// names.
std::vector<std::string> shortest_targets(std::vector<std::string> const& layers,
                                          std::vector<std::string> const& modules);

// Returns the module that a parameter is of, which is its name without the last part.
std::string module_of(std::string const& parameter);
// Names the parameters A [rank, inputs] and B [outputs, rank] of the adapter of the linear layer
// `name`, as PEFT does but for its prefix.
std::string adapter_a(std::string const& name);
std::string adapter_b(std::string const& name);
// Returns the linear layer that such a parameter adapts, or nothing if it is none of an adapter.
std::optional<std::string> adapted_layer(std::string_view parameter);

// Decides for the linear layers of one model which of them have adapters. model.lora must come from
// complete_lora.
class AdapterTargets {
 public:
  explicit AdapterTargets(ModelConfig const& model) : m_model(model) {}

  bool adapts(std::string const& name);
  // Throws Error(bad_input) that names a target which no linear layer so far is.
  void require_all_used() const;

 private:
  bool is_target(std::string_view target, std::string const& name) const;

  ModelConfig const& m_model;
  std::vector<std::string> m_used, m_names;  // targets, and linear layers
};

}  // namespace spillway
