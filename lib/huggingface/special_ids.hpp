// Finds the ids of special tokens, such as the end of a text, in a Hugging Face directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "huggingface/description.hpp"

namespace spillway {

// Sets those ids of `data` that the directory's files say: the end of a text, and what the model's
// objective needs. All other ids stay as they are. Throws Error(bad_input) that names a file which
// cannot be read, is no JSON, or is larger than files that checkpoints carry.
void read_special_ids(std::filesystem::path const& directory, ModelDescription const& description,
                      DataConfig& data);

// These ids decide where texts begin and end when transformers itself generates.
struct GenerationIds {
  std::vector<std::int64_t> ends;     // each of them ends a text
  std::optional<std::int64_t> start;  // what T5's decoder starts with; empty if no file says it
  // These keys of generation_config.json would make transformers take another token for the
  // likeliest than this program does.
  std::vector<std::string> not_followed;
};

// Returns the ids that a directory's generation_config.json says or, if it has no such file, its
// config.json. Ids outside a vocabulary of `vocab` tokens are left out. Throws what
// read_special_ids throws.
GenerationIds read_generation_ids(std::filesystem::path const& directory, std::int64_t vocab);

// Returns, sorted, the ids that end texts of a model whose files are in `directory`: those of
// read_generation_ids, and data.eos_id. If there is a generation_config.json, data.eos_id is left
// out if it is the one of config.json. Throws what read_special_ids throws.
std::vector<std::int64_t> ends_of_texts(std::filesystem::path const& directory,
                                        ModelDescription const& description,
                                        DataConfig const& data);

}  // namespace spillway
