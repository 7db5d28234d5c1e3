// Unigram: of all ways to write a text with tokens, the one with the highest sum of scores.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "tokenizer/model.hpp"
#include "tokenizer/prefix_tree.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

// So much less than the lowest score has a character that is no token.
constexpr double kUnknownPenalty = 10;

struct UnigramSettings {
  std::optional<std::int32_t> unknown;
  bool byte_fallback = false;
};

// The best way to write a text up to some position ends with a token that begins at `begin`.
struct BestEnd {
  double score = 0;
  std::size_t begin = std::string::npos;  // none ends there
  std::int32_t id = 0;
};

class Unigram final : public SubwordModel {
 public:
  Unigram(Vocabulary vocabulary, std::vector<double> scores, PrefixTree tree,
          UnigramSettings settings)
      : SubwordModel(std::move(vocabulary)),
        m_scores(std::move(scores)),
        m_tree(std::move(tree)),
        m_settings(settings) {
    auto const lowest = std::ranges::min_element(m_scores);
    m_unknown_score = (lowest == m_scores.end() ? 0 : *lowest) - kUnknownPenalty;
  }

  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    auto const ends = best_ends(word);
    std::vector<std::string_view> tokens;  // from the last to the first
    bool goes_on = false;                  // characters that are unknown become one token
    for (auto end = word.size(); end > 0;) {
      auto const& [score, begin, id] = ends[end];
      auto const token = word.substr(begin, end - begin);
      bool const is_unknown = m_settings.unknown && id == *m_settings.unknown;
      if (is_unknown && goes_on)
        tokens.back() = word.substr(begin, token.size() + tokens.back().size());
      else
        tokens.push_back(token);
      goes_on = is_unknown;
      end = begin;
    }
    std::ranges::for_each(tokens.rbegin(), tokens.rend(),
                          [&](std::string_view token) { append_token(token, ids); });
  }

 private:
  std::vector<BestEnd> best_ends(std::string_view word) const {
    std::vector<BestEnd> ends(word.size() + 1);
    for (std::size_t begin = 0; begin < word.size();) {
      auto const rest = word.substr(begin);
      auto const character_bytes = first_code_point(rest).bytes;
      auto const before = ends[begin].score;
      auto const offer = [&](std::size_t bytes, std::int32_t id, double score) {
        auto& end = ends[begin + bytes];
        if (end.begin == std::string::npos || before + score > end.score)
          end = {before + score, begin, id};
      };
      bool is_known = false;
      m_tree.each_prefix(rest, [&](std::size_t bytes, std::int32_t id) {
        offer(bytes, id, m_scores[static_cast<std::size_t>(id)]);
        is_known |= bytes == character_bytes;
      });
      if (!is_known) offer(character_bytes, m_settings.unknown.value_or(-1), m_unknown_score);
      begin += character_bytes;
    }
    return ends;
  }

  void append_token(std::string_view token, std::vector<std::int32_t>& ids) const {
    if (auto const id = vocabulary().id_of(token)) return ids.push_back(*id);
    auto const before = ids.size();
    for (char const byte : token) {
      auto const id = m_settings.byte_fallback
                          ? vocabulary().id_of(byte_token(static_cast<unsigned char>(byte)))
                          : std::nullopt;
      if (!id) {
        ids.resize(before);
        if (m_settings.unknown) ids.push_back(*m_settings.unknown);
        return;
      }
      ids.push_back(*id);
    }
  }

  std::vector<double> m_scores;  // of each id
  PrefixTree m_tree;
  UnigramSettings m_settings;
  double m_unknown_score;
};

// Returns a score as the published library reads it: its digits as a whole number, which is rounded
// and then divided by a power of ten. Ways to write a text may differ by less than this changes.
double as_published(double score) {
  std::array<char, 40> text{};
  std::to_chars(text.data(), text.data() + text.size(), std::abs(score),
                std::chars_format::scientific);
  std::string_view const written = text.data();
  auto const e = written.find('e');
  std::int64_t digits = 0;
  int exponent = std::atoi(text.data() + e + 1);
  bool is_behind_point = false;
  for (char const c : written.substr(0, e)) {
    if (c != '.') digits = 10 * digits + (c - '0');
    if (c != '.' && is_behind_point) --exponent;
    is_behind_point |= c == '.';
  }
  auto const power = std::pow(10.0, std::abs(exponent));
  auto const value =
      exponent < 0 ? static_cast<double>(digits) / power : static_cast<double>(digits) * power;
  return std::copysign(value, score);
}

}  // namespace

std::unique_ptr<SubwordModel> read_unigram(JsonNode const& node) {
  Vocabulary vocabulary;
  std::vector<double> scores;
  std::vector<PrefixTree::Entry> entries;
  auto const list = node.at("vocab");
  for (auto const& one : list.elements()) {
    auto const both = one.elements();
    if (both.size() != 2 || !both[1].value().is_number()) one.refuse("is no token with its score");
    auto const id = static_cast<std::int32_t>(scores.size());
    entries.emplace_back(both[0].as_text(), id);
    vocabulary.add(both[0].as_text(), id);
    scores.push_back(as_published(both[1].value().get<double>()));
  }
  UnigramSettings settings{{}, node.flag("byte_fallback", false)};
  if (node.has("unk_id")) {
    settings.unknown = node.id("unk_id");
    if (*settings.unknown >= std::ssize(scores))
      node.at("unk_id").refuse("is not in the vocabulary");
  }
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores),
                                   PrefixTree(std::move(entries)), settings);
}

}  // namespace spillway
