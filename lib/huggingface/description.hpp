// What a config.json says of a model, in our keys, and back.
#pragma once

#include <string>

#include "config/config.hpp"
#include "huggingface/architecture.hpp"
#include "io/tensors/element_type.hpp"

namespace spillway {

struct ModelDescription {
  Architecture architecture = Architecture::gpt2;
  ModelConfig model;  // completed, with a vocabulary; dropouts are not theirs
};

// `json` is the text of a config.json, `place` its path for messages. Throws Error(bad_input).
ModelDescription describe_model(std::string const& json, std::string const& place);

// Of a model that was never theirs. Throws Error(bad_input) for one that no architecture has.
Architecture architecture_of(ModelConfig const& model);

// The text of a config.json. `original` is the text of the one that the model was imported from, or
// empty; `type` is what most tensors are saved in.
std::string config_json(ModelDescription const& description, ElementType type,
                        std::string const& original);

}  // namespace spillway
