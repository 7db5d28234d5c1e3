// Writes a model's adapters as a directory that PEFT loads.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "huggingface/export_model.hpp"

namespace spillway {

// `weights` has the adapters of config.model, of which no key may be left to `auto`, and `base` is
// where its other weights are. Tensors have `type`, or f32. The files of `own` are written beside
// them. The directory gets its name when it is complete. Throws what export_model throws.
ExportedModel export_adapter(TensorSource& weights, ModelConfig const& model,
                             std::string const& base, std::optional<ElementType> type,
                             std::filesystem::path const& directory,
                             NewDirectory::MayReplace may_replace = {},
                             CarriedFiles const& own = {});

}  // namespace spillway
