// Makes small models of every architecture as directories in Hugging Face's format, without using
// Hugging Face's library.
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
  std::string config;  // the text of config.json
  ElementType type = ElementType::f32;
  std::int64_t most_shard_bytes = 1 << 30;
  // Tensors whose names end with this text are f32, whatever `type` is. If it is empty, there are
  // no such tensors.
  std::string exception = {};
};
void PrintTo(DirectoryCase const& model, std::ostream* out);  // googletest prints a case with this

// Returns the cases. Each is a model of two layers with a vocabulary of 400 and at most 32
// positions.
std::vector<DirectoryCase> const& directory_cases();

// Writes config.json, weights that are computed from the tensors' names, and a tokenizer.json that
// has only the special tokens.
void write_model_directory(std::filesystem::path const& directory, DirectoryCase const& model);

// Returns of an input file that `import` has printed the sections `model` and `data`, the latter
// last and without the keys that a test gives itself.
std::string model_and_ids(std::string const& imported);

// Maps the name of each tensor to its description and its bytes.
using Tensors = std::map<std::string, std::pair<TensorEntry, std::string>>;
Tensors tensors_in(std::filesystem::path const& directory);
// Creates the directory and writes the tensors to it as a model's weights, in one file or in
// several of at most `most_shard_bytes`.
void write_tensors(std::filesystem::path const& directory, Tensors const& tensors,
                   std::int64_t most_shard_bytes = 1 << 30);

}  // namespace spillway::test
