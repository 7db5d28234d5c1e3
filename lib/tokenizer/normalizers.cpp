#include "tokenizer/normalizers.hpp"

#include <memory>

#include "tokenizer/by_type.hpp"
#include "tokenizer/charsmap.hpp"
#include "tokenizer/replace.hpp"
#include "tokenizer/unicode.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

using Normalizers = std::vector<Normalizer>;

// Calls change(character, result) for each character of a text. Returns the result.
template <class Change>
std::string each_character(std::string_view text, Change const& change) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    auto const c = first_code_point(text);
    change(c.value, result);
    text.remove_prefix(c.bytes);
  }
  return result;
}

template <NormalForm form>
Normalizers form_normalizers(JsonNode const&) {
  return {{[](std::string const& text) { return normal_form(text, form); }}};
}

Normalizers lowercase_normalizers(JsonNode const&) {
  return {{[](std::string const& text) { return each_character(text, append_lower_case); }}};
}

Normalizers strip_accents_normalizers(JsonNode const&) {
  return {{[](std::string const& text) {
    return each_character(text, [](char32_t c, std::string& to) {
      if (!is_mark(c)) append_utf8(c, to);
    });
  }}};
}

Normalizers strip_normalizers(JsonNode const& node) {
  bool const left = node.flag("strip_left", true), right = node.flag("strip_right", true);
  return {{[=](std::string const& text) {
             std::string_view rest = text;
             while (left && !rest.empty() && is_white_space(first_code_point(rest).value))
               rest.remove_prefix(first_code_point(rest).bytes);
             while (right && !rest.empty() && is_white_space(last_code_point(rest).value))
               rest.remove_suffix(last_code_point(rest).bytes);
             return std::string(rest);
           },
           false}};
}

Normalizers prepend_normalizers(JsonNode const& node) {
  return {{[prefix = node.text("prepend")](std::string const& text) {
             return text.empty() ? text : prefix + text;
           },
           false}};
}

// A single blank between letters must stay: T5 replaces two or more, which no cut parts.
Normalizers replace_normalizers(JsonNode const& node) {
  auto const pattern = node.at("pattern");
  bool const leaves_single_blanks = pattern.text("Regex", "") == " {2,}";
  return {{read_replacement(node), leaves_single_blanks}};
}

Normalizers bert_normalizers(JsonNode const& node) {
  return {read_bert_normalizer(node)};
}

Normalizers precompiled_normalizers(JsonNode const& node) {
  if (node.text("precompiled_charsmap", "").empty()) return {};
  auto const map = std::make_shared<Charsmap const>(node.at("precompiled_charsmap"));
  return {{[=](std::string const& text) { return map->replaced(text); }}};
}

Normalizers sequence_normalizers(JsonNode const& node) {
  return read_sequence(node.at("normalizers"), read_normalizers);
}

}  // namespace

Normalizers read_normalizers(JsonNode const& node) {
  static ByType<Normalizers> const types = {{"NFC", form_normalizers<NormalForm::nfc>},
                                            {"NFD", form_normalizers<NormalForm::nfd>},
                                            {"NFKC", form_normalizers<NormalForm::nfkc>},
                                            {"NFKD", form_normalizers<NormalForm::nfkd>},
                                            {"Lowercase", lowercase_normalizers},
                                            {"StripAccents", strip_accents_normalizers},
                                            {"Strip", strip_normalizers},
                                            {"Prepend", prepend_normalizers},
                                            {"Replace", replace_normalizers},
                                            {"BertNormalizer", bert_normalizers},
                                            {"Precompiled", precompiled_normalizers},
                                            {"Sequence", sequence_normalizers}};
  return read_by_type(types, node.text("type"), node);
}

std::string normalized(Normalizers const& normalizers, std::string text) {
  for (auto const& normalizer : normalizers) text = normalizer.apply(std::move(text));
  return text;
}

}  // namespace spillway
