// A model as a config.json of Hugging Face describes it: docs/huggingface.md says how.
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
  ModelConfig model;  // nothing is `auto`; dropout is none
};

// `json` is the text of a config.json, `place` its path for messages. What is unsupported is named,
// never ignored: throws Error(bad_input), "<place>: <key>: ...". A model that is described is one
// that an input file may ask for. Whether T5's head is tied is said as transformers 4 reads it; the
// tensors decide.
ModelDescription describe_model(std::string const& json, std::string const& place);

// The type that a config.json says its tensors have; empty: it says none. Throws as above.
std::optional<ElementType> said_type(std::string const& json, std::string const& place);

// The text of a config.json that transformers 4 and 5 load as this model. `original` is the text
// of the one that it was imported from, or empty: all that means the same stays as it is there.
// `type`: what transformers makes of all tensors, which must be floats. Of `data` a new file has
// the special ids that are not auto and the rows of a sequence. Throws what describe_model throws
// for `original`.
std::string config_json(ModelDescription const& description, ElementType type,
                        std::string const& original, DataConfig const& data = {});

}  // namespace spillway
