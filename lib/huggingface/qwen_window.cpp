// Qwen's windows: whether, how wide, and in which layers.
#include "huggingface/piece.hpp"

namespace spillway {
namespace {

constexpr std::string_view kUse = "use_sliding_window", kWidth = "sliding_window",
                           kFrom = "max_window_layers", kTypes = "layer_types";

// A word a layer, which transformers 5 writes and goes by.
Json layer_types(ModelConfig const& model) {
  auto types = Json::array();
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    bool const slides = model.window > 0 && layer >= model.window_from;
    types.push_back(slides ? "sliding_attention" : "full_attention");
  }
  return types;
}

void read_window(Json const& file, ModelKeys& keys) {
  if (keys.flag(file, kUse, false)) {
    auto const width = file.value(kWidth, Json(4096));
    if (!width.is_null()) {
      keys.set("model.window", kWidth, width);
      keys.set("model.window_from", kFrom, file.value(kFrom, Json(28)));
    }
  }
  auto const types = value_of(file, kTypes);
  if (!types.is_null() && types != layer_types(keys.model()))
    keys.fail(kTypes,
              "must be full_attention in as many layers as max_window_layers says and "
              "sliding_attention behind, where use_sliding_window is true, else full_attention");
}

Json write_window(ModelKeys const& keys) {
  bool const has_window = keys.model().window > 0;
  Json window = {{kUse, has_window}, {kWidth, keys.get("model.window")}};
  if (has_window) window[std::string(kFrom)] = keys.get("model.window_from");
  return window;
}

}  // namespace

Piece qwen_window_piece() {
  return {{kUse, kWidth, kFrom, kTypes}, read_window, write_window};
}

}  // namespace spillway
