// Writes the weights of a checkpoint as a directory that transformers loads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "config/config.hpp"
#include "io/file/new_directory.hpp"
#include "io/h5/carried_files.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway {

struct ExportedModel {
  std::size_t tensors = 0;
  std::int64_t bytes = 0;        // the size of all values
  std::int64_t become_zero = 0;  // how many values are not 0 but too small for their type
};

// `weights` are the parameters of config.model, which must be completed. The directory also gets
// what their checkpoint carries of the one that they were imported from: its configuration, with
// what has changed, and the files of its tokenizer. Tensors have the types that they had there, or
// fp32, or all have `type` if it is given, and the configuration tells transformers to round none
// of them. A carried file that is no model file (model_files.hpp) is left out, with a warning. A
// model of our own gets a configuration with the special ids of config.data. The directory gets its
// name when it is complete. Throws Error: bad_input as NewDirectory, for a model that no
// architecture of transformers has, or for a value that is too large for its type; damaged if a
// value is not finite, or if files are not as they were; storage.
ExportedModel export_model(TensorSource& weights, Config const& config, CarriedFiles const& carried,
                           std::optional<ElementType> type, std::filesystem::path const& directory,
                           NewDirectory::MayReplace may_replace = {});

}  // namespace spillway
