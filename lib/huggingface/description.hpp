// Reads a model from a config.json of Hugging Face, and writes one for a model. Which of its keys
// mean which of ours is in docs/huggingface.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.hpp"
#include "huggingface/architecture.hpp"
#include "io/tensors/element_type.hpp"

namespace spillway {

inline constexpr char const* kConfigFile = "config.json";
inline constexpr std::int64_t kMostConfigBytes = 1 << 20;

struct ModelDescription {
  Architecture architecture = Architecture::gpt2;
  ModelConfig model;  // nothing is left to `auto`; dropout is 0
};

// Returns the model that the text of a config.json describes; `place` is its path for messages.
// Throws Error(bad_input), "<place>: <key>: ...", for what is not supported: no key that could
// change a result is ignored. The model obeys all rules for a model of an input file. A T5's head
// is tied as transformers 4 reads the file; its tensors may say otherwise (match_tensors.hpp).
ModelDescription describe_model(std::string const& json, std::string const& place);

// Returns the type that a config.json says its tensors have, or nothing if it says no type of
// floats. Throws Error(bad_input) that begins with `place` if the text is no JSON object or is too
// large.
std::optional<ElementType> said_type(std::string const& json, std::string const& place);

// Returns a config.json that transformers 4 and 5 load as this model. `original` is the text of the
// config.json from which the model was imported, or empty: keys that need no change stay as they
// are there. Transformers converts all tensors to `type`, which must be a type of floats. If
// `original` is empty, the ids of the end of a text and of padding and, for the llama family, the
// greatest length of a sequence are those of `data`. Throws what describe_model throws for
// `original`.
std::string config_json(ModelDescription const& description, ElementType type,
                        std::string const& original, DataConfig const& data = {});

}  // namespace spillway
