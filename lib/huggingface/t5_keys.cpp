// Reads and writes the keys of T5's feed-forward layers and head, which differ between v1.0 and
// v1.1, and of what its decoder starts with.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "huggingface/activation_words.hpp"
#include "huggingface/key_group.hpp"

namespace spillway {
namespace {

constexpr std::string_view kProjection = "feed_forward_proj", kActivation = "dense_act_fn",
                           kGated = "is_gated_act", kTied = "tie_word_embeddings",
                           kScale = "scale_decoder_outputs", kStart = "decoder_start_token_id",
                           kPad = "pad_token_id";
constexpr std::string_view kGatedPrefix = "gated-";

Activation activation_in(Json const& value, std::string_view theirs, bool is_gated,
                         ModelKeys const& keys) {
  if (!value.is_string()) keys.fail(theirs, fmt::format("expected a text, got {}", shown(value)));
  auto const word = value.get_ref<std::string const&>().substr(is_gated ? kGatedPrefix.size() : 0);
  // In gated layers "gelu" means gelu_new in transformers; everywhere else it is the exact gelu.
  auto const ours =
      is_gated && word == "gelu" ? std::optional(Activation::gelu_tanh) : our_activation(word);
  if (!ours)
    keys.fail(theirs, fmt::format("{} {}; feed_forward_proj may have gated- before them",
                                  shown(value), activation_not_offered()));
  return *ours;
}

// In transformers, dense_act_fn and is_gated_act win over feed_forward_proj. This program throws
// unless all agree.
void require_agreement(Json const& file, ModelKeys const& keys) {
  constexpr auto problem = "says something else than feed_forward_proj; leave it out";
  auto const activation = value_of(file, kActivation);
  if (!activation.is_null() &&
      activation_in(activation, kActivation, false, keys) != keys.model().activation)
    keys.fail(kActivation, problem);
  if (keys.flag(file, kGated, keys.model().gated) != keys.model().gated) keys.fail(kGated, problem);
}

void read_feed_forward(Json const& file, ModelKeys& keys) {
  auto const projection = file.value(kProjection, Json("relu"));
  bool const is_gated =
      projection.is_string() && projection.get_ref<std::string const&>().starts_with(kGatedPrefix);
  keys.set("model.gated", kProjection, is_gated);
  keys.set_word("model.activation", kProjection,
                word(activation_in(projection, kProjection, is_gated, keys)));
  require_agreement(file, keys);
}

Json write_feed_forward(ModelKeys const& keys) {
  auto const form = keys.model().activation.value();
  auto word = their_activation(form);
  if (!keys.model().gated) return {{kProjection, word}};
  if (form == Activation::gelu_tanh) word = "gelu";
  if (form == Activation::gelu_erf) word = "gelu_python";
  return {{kProjection, std::string(kGatedPrefix) + word}};
}

// In transformers 4 tie_word_embeddings also says whether the head's input is scaled.
void read_head(Json const& file, ModelKeys& keys) {
  keys.set("model.tied", kTied, file.value(kTied, Json(true)));
  bool const scales = keys.flag(file, kScale, keys.model().tied);
  keys.set_word("model.scale_output", kScale, word(scales ? ScaleOutput::yes : ScaleOutput::no));
}

Json write_head(ModelKeys const& keys) {
  return {{kTied, keys.get("model.tied")}, {kScale, keys.model().scale_output == ScaleOutput::yes}};
}

// This program's decoders start with the padding token, so a file must not name another token. Null
// is allowed, since it names no token.
void read_start(Json const& file, ModelKeys& keys) {
  auto const start = value_of(file, kStart), pad = file.value(kPad, Json(0));
  if (!start.is_null() && start != pad)
    keys.fail(kStart, fmt::format("{} is not offered, only the same as {}, which is {}",
                                  shown(start), kPad, shown(pad)));
}

}  // namespace

KeyGroup t5_feed_forward_keys() {
  return {{kProjection, kActivation, kGated}, read_feed_forward, write_feed_forward};
}

KeyGroup t5_head_keys() {
  return {{kTied, kScale}, read_head, write_head};
}

KeyGroup t5_start_keys() {
  return {{kStart}, read_start, [](ModelKeys const&) { return Json::object(); }};
}

}  // namespace spillway
