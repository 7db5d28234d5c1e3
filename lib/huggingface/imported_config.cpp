#include "huggingface/imported_config.hpp"

#include <algorithm>

namespace spillway {

Config imported_config(ModelConfig const& model, ElementType type) {
  Config config;
  config.model = model;
  if (model.positions > 0) config.data.sequence = std::min(config.data.sequence, model.positions);
  // bf16 would lose bits of other types.
  config.precision = type == ElementType::bf16 ? Precision::bf16 : Precision::fp32;
  return config;
}

}  // namespace spillway
