#include "io/tokens/job_tokens.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace spillway {
namespace {

// Makes the tokens of a thread's documents, one behind the other.
class DocumentTokens {
 public:
  DocumentTokens(TokenizerFacts const& facts, Encoder& encoder)
      : m_facts(facts), m_encoder(encoder) {}

  void add(Document const& document) {
    auto& ids = m_made.ids;
    auto const first = ids.size();
    m_made.ends.push_back({first});
    if (document.text.empty()) return;
    if (document.is_begun) ids.insert(ids.end(), m_facts.before.begin(), m_facts.before.end());
    auto const ranges = encode(document);
    if (document.is_ended) ids.push_back(end());
    if (document.learned)
      mark(first, ranges);
    else if (!m_made.learned.empty())
      m_made.learned.resize(ids.size(), 1);
    m_made.ends.back() = {ids.size(), document.is_ended};
  }

  JobTokens take() { return std::move(m_made); }

 private:
  std::int32_t end() const {
    if (m_facts.end) return *m_facts.end;
    if (m_facts.name == kByteTokenizer)
      throw Error(Status::bad_input,
                  "--separator: is needed with prompts and completions, to end them");
    throw Error(
        Status::bad_input,
        fmt::format("{}: no file beside the tokenizer says which token ends the answer to a "
                    "prompt (eos_token or sep_token of tokenizer_config.json)",
                    m_facts.name));
  }

  // Returns the numbers of ids at which ranges that are learned begin and end.
  std::vector<std::size_t> encode(Document const& document) {
    std::vector<std::size_t> borders, counts;
    for (auto const& [begin, end] : document.learned.value_or(std::vector<TextRange>{})) {
      borders.push_back(begin);
      borders.push_back(end);
    }
    if (borders.empty() && document.barriers.empty())
      m_encoder.encode(document.text, m_made.ids);
    else
      m_encoder.encode({document.text, document.barriers, borders}, m_made.ids, counts);
    // The token that ends a text is learned if the text is learned up to there.
    bool const ends_learned = !borders.empty() && borders.back() == document.text.size();
    if (ends_learned) counts.back() = kToTheEnd;
    return counts;
  }

  void mark(std::size_t first, std::vector<std::size_t> const& ranges) {
    auto& learned = m_made.learned;
    if (learned.empty()) learned.resize(first, 1);
    learned.resize(m_made.ids.size(), 0);
    for (std::size_t i = 0; i < ranges.size(); i += 2)
      std::fill(
          learned.begin() + static_cast<std::ptrdiff_t>(ranges[i]),
          learned.begin() + static_cast<std::ptrdiff_t>(std::min(ranges[i + 1], learned.size())),
          std::uint8_t{1});
  }

  static constexpr std::size_t kToTheEnd = static_cast<std::size_t>(-1);

  TokenizerFacts const& m_facts;
  Encoder& m_encoder;
  JobTokens m_made;
};

JobTokens part_of_text(TextJob const& job, Encoder& encoder) {
  JobTokens made;
  encoder.encode(job.block.text, made.ids);
  if (job.ends_document) made.ends.push_back({made.ids.size()});
  return made;
}

}  // namespace

JobTokens tokens_of(TextJob const& job, RecordRules const& rules, TokenizerFacts const& facts,
                    Encoder& encoder) {
  if (!job.has_records) return part_of_text(job, encoder);
  DocumentTokens documents(facts, encoder);
  for (auto const& [begin, end, line] : job.block.records) {
    auto const json = std::string_view(job.block.text).substr(begin, end - begin);
    auto const made = documents_of(json, {job.path, line}, rules);
    try {
      for (auto const& document : made) documents.add(document);
    } catch (Error const& error) {
      throw Error(error.status(), fmt::format("{}:{}: {}", job.path, line, error.what()));
    }
  }
  return documents.take();
}

}  // namespace spillway
