// Writes the weights of a checkpoint as a directory that transformers loads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "config/config.hpp"
#include "io/file/new_directory.hpp"
#include "io/h5/carried_files.hpp"
#include "io/tensors/convert.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway {

struct ExportedModel {
  std::size_t tensors = 0;
  std::int64_t bytes = 0;        // the size of all values
  std::int64_t become_zero = 0;  // how many values are not 0 but too small for their type
};

// `weights` are the parameters of config.model, of which no key may be left to `auto`. The
// directory also gets `carried`, the files that lay beside the weights if the model was imported:
// its configuration, with what has changed, and the files of its tokenizer. Tensors have the types
// that they had before the import, or fp32 if the model was not imported, or all have `type` if it
// is given. The configuration tells transformers to round none of them. A carried file that is no
// model file (model_files.hpp) is left out, with a warning. A model that was not imported gets a
// configuration with the special ids of config.data. The directory gets its name when it is
// complete. Throws Error: bad_input if NewDirectory does, for a model that no architecture of
// transformers has, or for a value that is too large for its type; damaged if a value is not
// finite, or if files are not what was written; storage if files cannot be read or written.
ExportedModel export_model(TensorSource& weights, Config const& config, CarriedFiles const& carried,
                           std::optional<ElementType> type, std::filesystem::path const& directory,
                           NewDirectory::MayReplace may_replace = {});

// Throws Error that names the tensor: damaged if values are not finite, bad_input if some are too
// large for its type.
void require_exportable(std::string const& place, TensorEntry const& tensor,
                        ValueCounts const& counts);

}  // namespace spillway
