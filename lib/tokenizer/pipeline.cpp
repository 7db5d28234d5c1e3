#include "tokenizer/pipeline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

// Returns whether a text may be cut before a blank between letters of ASCII.
bool has_cuts(Stages const& stages) {
  auto const count = [&](AtBlanks what) {
    return std::ranges::count(stages.pre_tokenizers, what, &PreTokenizer::at_blanks);
  };
  return std::ranges::all_of(stages.normalizers, &Normalizer::is_local) &&
         stages.added.are_local() && count(AtBlanks::unknown) == 0 && count(AtBlanks::splits) > 0;
}

// A WordCache remembers the ids of words that are not long.
class WordCache {
 public:
  void append_ids(SubwordModel const& model, std::string_view word,
                  std::vector<std::int32_t>& ids) {
    if (word.size() > kMostBytes) return model.append_ids(word, ids);
    auto const found = m_places.find(word);
    if (found != m_places.end()) {
      auto const first = m_ids.begin() + found->second.begin;
      ids.insert(ids.end(), first, first + found->second.count);
      return;
    }
    if (m_places.size() == kMostWords) clear();
    auto const before = std::ssize(ids);
    model.append_ids(word, ids);
    m_places.emplace(word, Place{std::ssize(m_ids), std::ssize(ids) - before});
    m_ids.insert(m_ids.end(), ids.begin() + before, ids.end());
  }

 private:
  static constexpr std::size_t kMostBytes = 64, kMostWords = std::size_t{1} << 17;

  struct Place {
    std::ptrdiff_t begin, count;  // in m_ids
  };

  void clear() {
    m_places.clear();
    m_ids.clear();
  }

  TextMap<Place> m_places;
  std::vector<std::int32_t> m_ids;
};

// Appends the ids of added tokens among the parts, and calls encode(text) for what stands between.
template <class Encode>
void each_text(std::vector<TextPart> const& parts, std::vector<std::int32_t>& ids,
               Encode const& encode) {
  for (auto const& part : parts) {
    if (part.id >= 0)
      ids.push_back(part.id);
    else
      encode(part.text);
  }
}

class PipelineEncoder final : public Encoder {
 public:
  explicit PipelineEncoder(Stages const& stages) : m_stages(stages) {}

  void encode(std::string_view text, std::vector<std::int32_t>& ids) override {
    auto const valid = as_utf8(text);
    m_parts.clear();
    m_stages.added.append_parts(valid, false, m_parts);
    each_text(m_parts, ids,
              [&](std::string_view rest) { encode_part(rest, rest.data() == valid.data(), ids); });
  }

  void encode(MarkedText const& marked, std::vector<std::int32_t>& ids,
              std::vector<std::size_t>& counts) override {
    auto const& [text, barriers, borders] = marked;
    std::vector<TextPart> parts;
    m_stages.added.append_parts(text, false, parts, barriers);
    std::size_t border = 0;
    for (auto const& part : parts) {
      auto const begin = static_cast<std::size_t>(part.text.data() - text.data());
      auto const end = begin + part.text.size(), first = ids.size();
      if (part.id >= 0) {
        for (; border < borders.size() && borders[border] < end; ++border) counts.push_back(first);
        ids.push_back(part.id);
        continue;
      }
      auto const next = std::ranges::upper_bound(barriers, begin);
      m_may_have_special = next == barriers.end() || *next >= end;
      encode_part(part.text, begin == 0, ids);
      for (; border < borders.size() && borders[border] < end; ++border)
        counts.push_back(first + ids_before(part.text.substr(0, borders[border] - begin),
                                            begin == 0, std::span(ids).subspan(first)));
      m_may_have_special = true;
    }
    counts.resize(counts.size() + borders.size() - border, ids.size());
  }

 private:
  // Returns how many of the ids of a whole part stand before the end of its beginning `text`.
  std::size_t ids_before(std::string_view text, bool is_beginning,
                         std::span<std::int32_t const> whole) {
    if (text.empty()) return 0;
    std::vector<std::int32_t> ids;
    encode_part(text, is_beginning, ids);
    return static_cast<std::size_t>(std::ranges::mismatch(ids, whole).in1 - ids.begin());
  }

  void encode_part(std::string_view text, bool is_beginning, std::vector<std::int32_t>& ids) {
    auto const changed = normalized(m_stages.normalizers, std::string(text));
    m_normalized_parts.clear();
    m_stages.added.append_parts(changed, true, m_normalized_parts);
    if (!m_may_have_special) require_no_special();
    each_text(m_normalized_parts, ids, [&](std::string_view rest) {
      encode_words(rest, is_beginning && rest.data() == changed.data(), ids);
    });
  }

  // Where a part was changed, it is not known which of its texts stood in a message.
  void require_no_special() const {
    for (auto const& part : m_normalized_parts)
      if (part.id >= 0 && m_stages.added.find(part.id)->is_special)
        throw Error(
            Status::bad_input,
            fmt::format("a message has a special token, and so has the template around it "
                        "({}), which this tokenizer looks for only in normalized text; take "
                        "it out of the message, or give --parse-special",
                        part.text));
  }

  void encode_words(std::string_view text, bool is_beginning, std::vector<std::int32_t>& ids) {
    Words words{std::string(text), {{0, text.size()}}, is_beginning};
    for (auto const& step : m_stages.pre_tokenizers) step.apply(words);
    for (auto const& place : words.places)
      m_cache.append_ids(*m_stages.model, words.word(place), ids);
  }

  Stages const& m_stages;
  WordCache m_cache;
  std::vector<TextPart> m_parts, m_normalized_parts;
  bool m_may_have_special = true;  // says whether a part may have special tokens
};

}  // namespace

Stages read_stages(JsonNode const& root) {
  Stages stages;
  if (root.has("normalizer")) stages.normalizers = read_normalizers(root.at("normalizer"));
  if (root.has("pre_tokenizer"))
    stages.pre_tokenizers = read_pre_tokenizers(root.at("pre_tokenizer"));
  stages.model = read_model(root.at("model"));
  if (root.has("decoder")) stages.decoders = read_decoders(root.at("decoder"));
  if (root.has("post_processor")) stages.around = read_post_processor(root.at("post_processor"));
  if (root.has("added_tokens"))
    stages.added = AddedTokens(read_added_tokens(root.at("added_tokens")),
                               stages.model->vocabulary(), stages.normalizers);
  return stages;
}

Pipeline::Pipeline(Stages stages, TokenizerFacts facts)
    : Tokenizer(std::move(facts)), m_stages(std::move(stages)), m_has_cuts(has_cuts(m_stages)) {}

std::unique_ptr<Encoder> Pipeline::encoder() const {
  return std::make_unique<PipelineEncoder>(m_stages);
}

std::string Pipeline::decode(std::span<std::int32_t const> ids, bool with_special) const {
  std::vector<std::string> tokens;
  for (auto const id : ids) {
    auto const* const added = m_stages.added.find(id);
    if (added != nullptr && added->is_special && !with_special) continue;
    auto const* const token = m_stages.model->vocabulary().token_of(id);
    if (added != nullptr)
      tokens.push_back(added->content);
    else if (token != nullptr)
      tokens.push_back(*token);
  }
  for (auto const& decoder : m_stages.decoders) decoder(tokens);
  std::string text;
  for (auto const& token : tokens) {
    // Without a decoder it is not known which tokens belong together.
    if (m_stages.decoders.empty() && &token != &tokens.front()) text += ' ';
    text += token;
  }
  return text;
}

std::vector<std::string> Pipeline::special_tokens() const {
  std::vector<std::string> texts;
  for (auto const& token : m_stages.added.tokens())
    if (token.is_special && !token.content.empty()) texts.push_back(token.content);
  return texts;
}

std::size_t Pipeline::last_cut(std::string_view text) const {
  if (!m_has_cuts || text.size() < 3) return 0;
  for (auto at = text.size() - 2; at > 0; --at)
    if (text[at] == ' ' && is_ascii_letter(text[at - 1]) && is_ascii_letter(text[at + 1]))
      return at;
  return 0;
}

}  // namespace spillway
