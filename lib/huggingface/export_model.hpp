// Weights of a checkpoint as a directory that transformers loads.
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
  std::int64_t bytes = 0;        // of all values
  std::int64_t become_zero = 0;  // counts values that are not 0, and too small for their type
};

// `weights` are the parameters of config.model, which is completed. What their checkpoint carries
// of the directory that they came from comes back with them: its configuration, with what has
// changed, its files of the tokenizer, and the types of tensors, which are fp32 else, unless `type`
// says another for all. transformers is told to round none of them. Of a name that is no model file
// (model_files.hpp) nothing comes, and is named. A model of our own gets a configuration with the
// special ids of config.data. `directory` gets its name when all is there. Throws Error: bad_input
// as NewDirectory, for a model that no architecture of transformers has, or where a value
// is too large for its type; damaged where one is not finite, or files are not as they were;
// storage.
ExportedModel export_model(TensorSource& weights, Config const& config, CarriedFiles const& carried,
                           std::optional<ElementType> type, std::filesystem::path const& directory,
                           NewDirectory::MayReplace may_replace = {});

}  // namespace spillway
