// Reads and writes windows that only some layers have: how wide they are, and in which layers.
#include <algorithm>

#include "huggingface/key_group.hpp"

namespace spillway {
namespace {

constexpr std::string_view kUse = "use_sliding_window", kWidth = "sliding_window",
                           kFrom = "max_window_layers", kTypes = "layer_types";
constexpr std::string_view kFull = "full_attention", kSliding = "sliding_attention";

// Returns a word for each layer. transformers 5 takes from these words which layers have a window.
Json layer_types(ModelConfig const& model) {
  auto types = Json::array();
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    bool const slides = model.window > 0 && layer >= model.window_from;
    types.push_back(slides ? kSliding : kFull);
  }
  return types;
}

void require_words(Json const& types, ModelKeys const& keys) {
  bool const one_each = types.is_array() && std::ssize(types) == keys.model().layers;
  bool const known = one_each && std::ranges::all_of(types, [](Json const& word) {
                       return word == kFull || word == kSliding;
                     });
  if (!known)
    keys.fail(kTypes,
              "expected full_attention or sliding_attention for each of the model's layers");
}

// `width` is null if there is no window.
void read_types(Json const& types, Json const& width, std::string_view width_key, ModelKeys& keys) {
  require_words(types, keys);
  auto const first = std::ranges::find(types, Json(kSliding));
  if (first == types.end()) return;
  if (width.is_null())
    keys.fail(kTypes, std::string("has layers with sliding_attention, and ")
                          .append(width_key)
                          .append(" says that there is no window"));
  if (std::find(first, types.end(), Json(kFull)) != types.end())
    keys.fail(kTypes,
              "windows in any layers are not offered, only from one layer on: full_attention must "
              "come first, sliding_attention behind");
  keys.set("model.window", kWidth, width);
  keys.set("model.window_from", kTypes, first - types.begin());
}

void read_qwen(Json const& file, ModelKeys& keys) {
  bool const is_used = keys.flag(file, kUse, false);
  auto const width = is_used ? file.value(kWidth, Json(4096)) : Json();
  auto const types = value_of(file, kTypes);
  if (!types.is_null()) return read_types(types, width, is_used ? kWidth : kUse, keys);
  if (width.is_null()) return;
  keys.set("model.window", kWidth, width);
  keys.set("model.window_from", kFrom, file.value(kFrom, Json(28)));
}

Json write_qwen(ModelKeys const& keys) {
  bool const has_window = keys.model().window > 0;
  Json window = {{kUse, has_window}, {kWidth, keys.get("model.window")}};
  if (has_window) window[std::string(kFrom)] = keys.get("model.window_from");
  return window;
}

void read_ministral(Json const& file, ModelKeys& keys) {
  auto const width = file.value(kWidth, Json(4096));
  auto const types = value_of(file, kTypes);
  if (!types.is_null()) return read_types(types, width, kWidth, keys);
  if (!width.is_null()) keys.set("model.window", kWidth, width);
}

Json write_ministral(ModelKeys const& keys) {
  return {{kWidth, keys.get("model.window")}, {kTypes, layer_types(keys.model())}};
}

}  // namespace

KeyGroup qwen_window_keys() {
  return {{kUse, kWidth, kFrom, kTypes}, read_qwen, write_qwen};
}

KeyGroup ministral_window_keys() {
  return {{kWidth, kTypes}, read_ministral, write_ministral};
}

}  // namespace spillway
