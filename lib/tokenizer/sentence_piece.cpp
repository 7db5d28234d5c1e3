#include "tokenizer/sentence_piece.hpp"

#include <fmt/core.h>
#include <sentencepiece_processor.h>

#include "base/error.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

using Processor = sentencepiece::SentencePieceProcessor;

[[noreturn]] void fail(std::string const& what) {
  throw Error(Status::bad_input, "SentencePiece: " + what);
}

class SentencePieceEncoder final : public Encoder {
 public:
  explicit SentencePieceEncoder(Processor const& processor) : m_processor(processor) {}

  void encode(std::string_view text, std::vector<std::int32_t>& ids) override {
    auto const status = m_processor.Encode(as_utf8(text), &m_ids);
    if (!status.ok()) fail(status.ToString());
    ids.insert(ids.end(), m_ids.begin(), m_ids.end());
  }

  void encode(MarkedText const&, std::vector<std::int32_t>&, std::vector<std::size_t>&) override {
    fail(
        "its models know no special tokens in texts, as prompts and messages have; give the "
        "model's tokenizer.json");
  }

 private:
  Processor const& m_processor;
  std::vector<int> m_ids;
};

class SentencePiece final : public Tokenizer {
 public:
  SentencePiece(std::unique_ptr<Processor const> processor, TokenizerFacts facts)
      : Tokenizer(std::move(facts)), m_processor(std::move(processor)) {}

  std::unique_ptr<Encoder> encoder() const override {
    return std::make_unique<SentencePieceEncoder>(*m_processor);
  }

  std::string decode(std::span<std::int32_t const> ids, bool with_special) const override {
    std::vector<std::string> pieces;
    for (auto const id : ids) {
      if (id < 0 || id >= m_processor->GetPieceSize()) continue;
      bool const is_special = m_processor->IsControl(id);
      if (!is_special || with_special) pieces.push_back(m_processor->IdToPiece(id));
    }
    std::string text;
    auto const status = m_processor->Decode(pieces, &text);
    if (!status.ok()) fail(status.ToString());
    return text;
  }

  std::vector<std::string> special_tokens() const override { return {}; }
  // What a model of SentencePiece does at the beginning of a text depends on the model.
  std::size_t last_cut(std::string_view) const override { return 0; }

 private:
  std::unique_ptr<Processor const> m_processor;
};

}  // namespace

std::unique_ptr<Tokenizer const> open_sentence_piece(std::filesystem::path const& path,
                                                     std::string const& bytes,
                                                     TokenizerFacts facts) {
  auto processor = std::make_unique<Processor>();
  auto const status = processor->LoadFromSerializedProto(bytes);
  if (!status.ok())
    throw Error(Status::bad_input, fmt::format("{}: is no model of SentencePiece", path.string()));
  facts.vocab = processor->GetPieceSize();
  if (processor->eos_id() >= 0) facts.end = processor->eos_id();
  if (facts.end) facts.after = {*facts.end};
  return std::make_unique<SentencePiece const>(std::move(processor), std::move(facts));
}

}  // namespace spillway
