// Byte-pair encoding: the characters of a word are joined pair by pair.
#include <algorithm>
#include <array>
#include <optional>

#include "tokenizer/merges.hpp"
#include "tokenizer/model.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

struct BpeSettings {
  std::optional<std::int32_t> unknown;  // the id of a character that is no token
  bool fuse_unknown = false, byte_fallback = false, ignore_merges = false;
};

class Bpe final : public SubwordModel {
 public:
  Bpe(Vocabulary vocabulary, Merges merges, BpeSettings settings)
      : SubwordModel(std::move(vocabulary)), m_merges(std::move(merges)), m_settings(settings) {
    for (char32_t c = 0; c < m_first_ids.size(); ++c) {
      std::string text;
      append_utf8(c, text);
      m_first_ids[c] = this->vocabulary().id_of(text).value_or(kUnknown);
    }
    for (std::size_t byte = 0; byte < m_byte_ids.size(); ++byte)
      m_byte_ids[byte] =
          this->vocabulary().id_of(byte_token(static_cast<unsigned char>(byte))).value_or(kUnknown);
  }

  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    if (m_settings.ignore_merges) {
      if (auto const whole = vocabulary().id_of(word)) return ids.push_back(*whole);
    }
    auto symbols = symbols_of(word);
    join_all(m_merges, symbols);
    ids.insert(ids.end(), symbols.begin(), symbols.end());
  }

 private:
  static constexpr std::int32_t kUnknown = -1;

  std::int32_t id_of(CodePoint const& c, std::string_view text) const {
    if (c.value < m_first_ids.size()) return m_first_ids[c.value];
    return vocabulary().id_of(text).value_or(kUnknown);
  }

  bool append_bytes(std::string_view text, std::vector<std::int32_t>& symbols) const {
    auto const id = [&](char byte) { return m_byte_ids[static_cast<unsigned char>(byte)]; };
    auto const is_missing = [&](char byte) { return id(byte) == kUnknown; };
    if (!m_settings.byte_fallback || std::ranges::any_of(text, is_missing)) return false;
    for (char const byte : text) symbols.push_back(id(byte));
    return true;
  }

  // Returns the ids of a word's characters. An unknown one is written when another follows.
  std::vector<std::int32_t> symbols_of(std::string_view word) const {
    std::vector<std::int32_t> symbols;
    symbols.reserve(word.size());
    bool is_unknown_due = false;
    while (!word.empty()) {
      auto const c = first_code_point(word);
      auto const text = word.substr(0, c.bytes);
      word.remove_prefix(c.bytes);
      auto const id = id_of(c, text);
      if (id == kUnknown && (append_bytes(text, symbols) || !m_settings.unknown)) continue;
      if (is_unknown_due && !(id == kUnknown && m_settings.fuse_unknown))
        symbols.push_back(*m_settings.unknown);
      is_unknown_due = id == kUnknown;
      if (id != kUnknown) symbols.push_back(id);
    }
    if (is_unknown_due) symbols.push_back(*m_settings.unknown);
    return symbols;
  }

  Merges m_merges;
  BpeSettings m_settings;
  std::array<std::int32_t, 0x180> m_first_ids;  // of characters that are used most
  std::array<std::int32_t, 0x100> m_byte_ids;
};

struct Pair {
  std::string left, right;
};

// A merge is written as "left right" or, since tokens may have blanks, as ["left", "right"].
Pair read_pair(JsonNode const& node) {
  if (node.value().is_array()) {
    auto const both = node.elements();
    if (both.size() != 2) node.refuse("is no pair");
    return {both[0].as_text(), both[1].as_text()};
  }
  auto const text = node.as_text();
  auto const blank = text.find(' ');
  if (blank == text.npos || text.find(' ', blank + 1) != text.npos) node.refuse("is no pair");
  return {text.substr(0, blank), text.substr(blank + 1)};
}

Merges read_merges(JsonNode const& node, Vocabulary const& vocabulary) {
  Merges merges;
  std::int32_t rank = 0;
  for (auto const& one : node.at("merges").elements()) {
    auto const [left, right] = read_pair(one);
    auto const id = [&](std::string const& token) {
      auto const found = vocabulary.id_of(token);
      if (!found) one.refuse("'" + token + "' is not in the vocabulary");
      return *found;
    };
    auto const left_id = id(left), right_id = id(right);
    merges.add(left_id, right_id, {rank++, id(left + right)});
  }
  return merges;
}

// Throws for settings that would change ids in a way that is not known here.
void require_known(JsonNode const& node) {
  if (node.has("dropout") && node.value()["dropout"] != 0)
    node.at("dropout").refuse("tokens that are drawn are not known here; give null");
  for (auto const* const key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!node.text(key, "").empty()) node.at(key).refuse("is not known here");
}

}  // namespace

std::unique_ptr<SubwordModel> read_bpe(JsonNode const& node) {
  require_known(node);
  auto vocabulary = read_vocabulary(node);
  BpeSettings settings{.unknown = {},
                       .fuse_unknown = node.flag("fuse_unk", false),
                       .byte_fallback = node.flag("byte_fallback", false),
                       .ignore_merges = node.flag("ignore_merges", false)};
  if (node.has("unk_token")) {
    settings.unknown = vocabulary.id_of(node.text("unk_token"));
    if (!settings.unknown) node.at("unk_token").refuse("is not in the vocabulary");
  }
  auto merges = read_merges(node, vocabulary);
  return std::make_unique<Bpe>(std::move(vocabulary), std::move(merges), settings);
}

}  // namespace spillway
