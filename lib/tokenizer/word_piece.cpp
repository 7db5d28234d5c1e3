// WordPiece: a word begins with the longest token that it can, and goes on with the longest ones.
#include <fmt/core.h>

#include "tokenizer/model.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

struct WordPieceSettings {
  std::int32_t unknown;  // the id of a word that cannot be made of tokens
  std::string prefix;    // of tokens that go on with a word
  std::int64_t most_characters;
};

std::int64_t characters_of(std::string_view word) {
  std::int64_t count = 0;
  for (char const c : word) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

class WordPiece final : public SubwordModel {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceSettings settings)
      : SubwordModel(std::move(vocabulary)), m_settings(std::move(settings)) {}

  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    auto const before = ids.size();
    bool known = characters_of(word) <= m_settings.most_characters;
    for (auto rest = word; known && !rest.empty();) {
      auto const bytes = append_longest(rest, rest.size() < word.size(), ids);
      known = bytes > 0;
      rest.remove_prefix(bytes);
    }
    if (known) return;
    ids.resize(before);
    ids.push_back(m_settings.unknown);
  }

 private:
  // Appends the longest token with which `rest` begins. Returns its bytes; 0 if there is none.
  std::size_t append_longest(std::string_view rest, bool goes_on,
                             std::vector<std::int32_t>& ids) const {
    auto token = goes_on ? m_settings.prefix : std::string();
    auto const prefix_bytes = token.size();
    token += rest;
    while (token.size() > prefix_bytes) {
      if (auto const id = vocabulary().id_of(token)) {
        ids.push_back(*id);
        return token.size() - prefix_bytes;
      }
      token.resize(token.size() - last_code_point(token).bytes);
    }
    return 0;
  }

  WordPieceSettings m_settings;
};

}  // namespace

std::unique_ptr<SubwordModel> read_word_piece(JsonNode const& node) {
  auto vocabulary = read_vocabulary(node);
  auto const name = node.text("unk_token", "[UNK]");
  auto const unknown = vocabulary.id_of(name);
  if (!unknown) node.refuse(fmt::format("unk_token: '{}' is not in the vocabulary", name));
  constexpr std::int64_t usual_most = 100;
  WordPieceSettings settings{
      *unknown, node.text("continuing_subword_prefix", "##"),
      node.has("max_input_chars_per_word") ? node.integer("max_input_chars_per_word") : usual_most};
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(settings));
}

}  // namespace spillway
