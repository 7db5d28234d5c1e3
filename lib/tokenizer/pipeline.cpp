#include "tokenizer/pipeline.hpp"

#include <algorithm>

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

 private:
  void encode_part(std::string_view text, bool is_beginning, std::vector<std::int32_t>& ids) {
    auto const changed = normalized(m_stages.normalizers, std::string(text));
    m_normalized_parts.clear();
    m_stages.added.append_parts(changed, true, m_normalized_parts);
    each_text(m_normalized_parts, ids, [&](std::string_view rest) {
      encode_words(rest, is_beginning && rest.data() == changed.data(), ids);
    });
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

std::size_t Pipeline::last_cut(std::string_view text) const {
  if (!m_has_cuts || text.size() < 3) return 0;
  for (auto at = text.size() - 2; at > 0; --at)
    if (text[at] == ' ' && is_ascii_letter(text[at - 1]) && is_ascii_letter(text[at + 1]))
      return at;
  return 0;
}

}  // namespace spillway
