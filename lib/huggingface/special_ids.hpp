// Finds the tokens of a Hugging Face directory that stand for something else than text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "huggingface/description.hpp"

namespace spillway {

// Sets those ids of `data` that the directory knows of its model: the end of a text, and what the
// model's objective needs. The others stay as they are. Throws Error(bad_input) that names a file
// which cannot be read, is no JSON, or is larger than what is carried.
void read_special_ids(std::filesystem::path const& directory, ModelDescription const& description,
                      DataConfig& data);

// These ids decide where texts begin and end when transformers itself generates.
struct GenerationIds {
  std::vector<std::int64_t> ends;     // each of them ends a text
  std::optional<std::int64_t> start;  // what T5's decoder starts with; empty if no file says it
  // Keys of generation_config.json with which transformers' likeliest token is another than ours.
  std::vector<std::string> not_followed;
};

// Returns the ids that a directory's generation_config.json says or, if it has no such file, its
// config.json. Ids outside a vocabulary of this size are left out. Throws as above.
GenerationIds read_generation_ids(std::filesystem::path const& directory, std::int64_t vocab);

// Returns, sorted, the ids that end texts of a model whose files are in `directory`: those of
// read_generation_ids, and data.eos_id. The latter is left out if it is config.json's and there is
// a generation_config.json. Throws as above.
std::vector<std::int64_t> ends_of_texts(std::filesystem::path const& directory,
                                        ModelDescription const& description,
                                        DataConfig const& data);

}  // namespace spillway
