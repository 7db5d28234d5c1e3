// Tokens that stand for something else than text, in a Hugging Face directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "huggingface/description.hpp"

namespace spillway {

// Sets those ids of `data` that the directory says of its model: the end of a text, and what its
// objective needs. The others stay as they are. Throws Error(bad_input) that names a file which
// cannot be read, is no JSON, or is larger than what is carried.
void read_special_ids(std::filesystem::path const& directory, ModelDescription const& description,
                      DataConfig& data);

// What transformers' own generate goes by.
struct GenerationIds {
  std::vector<std::int64_t> ends;     // each ends a text
  std::optional<std::int64_t> start;  // what T5's decoder starts with; empty: nothing says it
  // Keys of generation_config.json by which transformers' likeliest token is another than ours.
  std::vector<std::string> not_followed;
};

// Those that a directory says: in generation_config.json or, where it has none, in config.json.
// Ids that no vocabulary of this size has are left out. Throws as above.
GenerationIds read_generation_ids(std::filesystem::path const& directory, std::int64_t vocab);

// Where texts of a model end that came with such files: where they say and at data.eos_id, unless
// that is config.json's and generation_config.json says otherwise. Sorted; throws as above.
std::vector<std::int64_t> ends_of_texts(std::filesystem::path const& directory,
                                        ModelDescription const& description,
                                        DataConfig const& data);

}  // namespace spillway
