#include "io/tokens/byte_tokenizer.hpp"

#include <algorithm>

namespace spillway {
namespace {

class ByteEncoder final : public Encoder {
 public:
  void encode(std::string_view text, std::vector<std::int32_t>& ids) override {
    auto const before = static_cast<std::ptrdiff_t>(ids.size());
    ids.resize(ids.size() + text.size());
    std::ranges::transform(text, ids.begin() + before,
                           [](char c) { return static_cast<unsigned char>(c); });
  }
  void encode(MarkedText const& text, std::vector<std::int32_t>& ids,
              std::vector<std::size_t>& counts) override {
    for (auto const border : text.borders) counts.push_back(ids.size() + border);
    encode(text.text, ids);
  }
};

class ByteTokenizer final : public Tokenizer {
 public:
  using Tokenizer::Tokenizer;

  std::unique_ptr<Encoder> encoder() const override { return std::make_unique<ByteEncoder>(); }
  std::string decode(std::span<std::int32_t const> ids, bool) const override {
    std::string text;
    for (auto const id : ids)
      if (id >= 0 && id < byte_separator) text += static_cast<char>(id);
    return text;
  }
  std::vector<std::string> special_tokens() const override { return {}; }
  std::size_t last_cut(std::string_view text) const override {
    return text.empty() ? 0 : text.size() - 1;
  }
};

}  // namespace

std::unique_ptr<Tokenizer const> byte_tokenizer(bool has_separator) {
  TokenizerFacts facts;
  facts.name = kByteTokenizer;
  facts.vocab = byte_separator + (has_separator ? 1 : 0);
  if (has_separator) facts.end = byte_separator;
  return std::make_unique<ByteTokenizer const>(std::move(facts));
}

}  // namespace spillway
