// A Tokenizer turns text into the ids of a vocabulary and ids into text, whatever file it was read
// from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// A MarkedText is valid UTF-8 of which more is known. All places are bytes, in ascending order.
struct MarkedText {
  std::string_view text;
  std::span<std::size_t const> barriers;  // no special token may reach over them
  std::span<std::size_t const> borders;   // at which it is asked how many ids there are
};

// An Encoder has the scratch memory of one thread, and remembers how words were split. Its
// Tokenizer must outlive it.
class Encoder {
 public:
  virtual ~Encoder() = default;
  // Appends the ids of `text` to `ids`, without those that only a post-processor adds. Bytes that
  // are no UTF-8 are taken for U+FFFD, as Python's errors="replace" does.
  virtual void encode(std::string_view text, std::vector<std::int32_t>& ids) = 0;
  // Appends the ids of the text, and to `counts` for each border how many ids stand before it then;
  // one that reaches over a border stands behind it. Throws Error(bad_input) if this tokenizer does
  // not know its special tokens in texts.
  virtual void encode(MarkedText const& text, std::vector<std::int32_t>& ids,
                      std::vector<std::size_t>& counts) = 0;
};

// What tells a vocabulary from others, and where its texts begin and end.
struct TokenizerFacts {
  std::string name;                         // of the directory or file that it was read from
  std::string checksum;                     // of the file's bytes, as 16 hexadecimal digits
  std::int64_t vocab = 0;                   // every id is below this
  std::vector<std::int32_t> before, after;  // ids that the post-processor puts around a text
  std::optional<std::int32_t> end;          // the token that ends texts
};

// Any thread may call the functions of a Tokenizer.
class Tokenizer {
 public:
  explicit Tokenizer(TokenizerFacts facts) : m_facts(std::move(facts)) {}
  virtual ~Tokenizer() = default;
  Tokenizer(Tokenizer const&) = delete;
  Tokenizer& operator=(Tokenizer const&) = delete;

  TokenizerFacts const& facts() const { return m_facts; }
  virtual std::unique_ptr<Encoder> encoder() const = 0;
  // Returns the text of `ids`. Special tokens have no text unless `with_special`; neither do ids
  // that are not in the vocabulary. Incomplete characters become U+FFFD.
  virtual std::string decode(std::span<std::int32_t const> ids, bool with_special) const = 0;
  // Returns the special tokens that are found in texts.
  virtual std::vector<std::string> special_tokens() const = 0;
  // Returns the last position in `text` at which it can be cut such that its parts have, together,
  // the ids of the whole; 0 if none is known.
  virtual std::size_t last_cut(std::string_view text) const = 0;

 private:
  TokenizerFacts m_facts;
};

}  // namespace spillway
