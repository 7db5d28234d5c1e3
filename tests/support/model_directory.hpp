// Small models as Hugging Face directories, one of every architecture, made without their library.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "io/tensors/tensor_list.hpp"

namespace spillway::test {

struct DirectoryCase {
  std::string name;
  std::string config;  // text of config.json
  ElementType type = ElementType::f32;
  std::int64_t most_shard_bytes = 1 << 30;
  std::string exception = {};  // ending of names of tensors that are f32 whatever `type` is
};
void PrintTo(DirectoryCase const& model, std::ostream* out);  // for googletest

// Models of 2 layers with a vocabulary of 400 and room for 32 positions.
std::vector<DirectoryCase> const& directory_cases();

// Weights that follow from their names, a config.json, a tokenizer.json with the special tokens.
void write_model_directory(std::filesystem::path const& directory, DirectoryCase const& model);

// All tensors of a directory, byte by byte.
using Tensors = std::map<std::string, std::pair<TensorEntry, std::string>>;
Tensors tensors_in(std::filesystem::path const& directory);
// The same as weights of a new directory, in one file or several.
void write_tensors(std::filesystem::path const& directory, Tensors const& tensors,
                   std::int64_t most_shard_bytes = 1 << 30);

}  // namespace spillway::test
