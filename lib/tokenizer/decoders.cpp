#include "tokenizer/decoders.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "tokenizer/by_type.hpp"
#include "tokenizer/byte_alphabet.hpp"
#include "tokenizer/replace.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

using Decoders = std::vector<Decoder>;
using Tokens = std::vector<std::string>;

void join(Tokens& tokens) {
  std::string all;
  for (auto const& token : tokens) all += token;
  tokens = {std::move(all)};
}

Decoders byte_level_decoders(JsonNode const&) {
  return {[](Tokens& tokens) {
    for (auto& token : tokens)
      if (auto bytes = bytes_of_alphabet(token)) token = std::move(*bytes);
    join(tokens);
    tokens.front() = as_utf8(tokens.front());
  }};
}

Decoders fuse_decoders(JsonNode const&) {
  return {join};
}

Decoders metaspace_decoders(JsonNode const& node) {
  auto const mark = node.text("replacement");
  bool const prepends = node.has("prepend_scheme") ? node.text("prepend_scheme") != "never"
                                                   : node.flag("add_prefix_space", true);
  return {[=](Tokens& tokens) {
    for (auto& token : tokens)
      token = all_replaced(token, mark, prepends && &token == &tokens.front() ? "" : " ");
  }};
}

// Takes out blanks that stand between English words and what belongs to them.
std::string cleaned(std::string token) {
  constexpr std::array<std::array<std::string_view, 2>, 11> changes = {{{" .", "."},
                                                                        {" ?", "?"},
                                                                        {" !", "!"},
                                                                        {" ,", ","},
                                                                        {" ' ", "'"},
                                                                        {" n't", "n't"},
                                                                        {" 'm", "'m"},
                                                                        {" do not", " don't"},
                                                                        {" 's", "'s"},
                                                                        {" 've", "'ve"},
                                                                        {" 're", "'re"}}};
  for (auto const& [from, to] : changes) token = all_replaced(token, from, to);
  return token;
}

Decoders word_piece_decoders(JsonNode const& node) {
  bool const cleans = node.flag("cleanup", true);
  return {[prefix = node.text("prefix", "##"), cleans](Tokens& tokens) {
    for (auto& token : tokens) {
      if (&token != &tokens.front()) {
        if (token.starts_with(prefix))
          token.erase(0, prefix.size());
        else
          token.insert(0, 1, ' ');
      }
      if (cleans) token = cleaned(std::move(token));
    }
  }};
}

// Returns the byte of a token such as "<0x0A>".
std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  constexpr std::string_view digits = "0123456789ABCDEF", small_digits = "0123456789abcdef";
  int value = 0;
  for (char const c : token.substr(3, 2)) {
    auto const at = std::min(digits.find(c), small_digits.find(c));
    if (at == digits.npos) return std::nullopt;
    value = 16 * value + static_cast<int>(at);
  }
  return static_cast<char>(value);
}

// Appends the text of bytes that follow each other: U+FFFD for each if they are no UTF-8.
void append_bytes(std::string& bytes, Tokens& to) {
  if (bytes.empty()) return;
  if (as_utf8(bytes) == bytes)
    to.push_back(bytes);
  else
    to.insert(to.end(), bytes.size(), "\xEF\xBF\xBD");
  bytes.clear();
}

Decoders byte_fallback_decoders(JsonNode const&) {
  return {[](Tokens& tokens) {
    Tokens result;
    std::string bytes;
    for (auto& token : tokens) {
      if (auto const byte = byte_of(token)) {
        bytes += *byte;
        continue;
      }
      append_bytes(bytes, result);
      result.push_back(std::move(token));
    }
    append_bytes(bytes, result);
    tokens = std::move(result);
  }};
}

Decoders strip_decoders(JsonNode const& node) {
  auto const content = node.text("content");
  auto const start = node.integer("start"), stop = node.integer("stop");
  if (content.empty()) node.at("content").refuse("is empty");
  return {[=](Tokens& tokens) {
    for (auto& token : tokens) {
      for (auto i = start; i > 0 && token.starts_with(content); --i) token.erase(0, content.size());
      for (auto i = stop; i > 0 && token.ends_with(content); --i)
        token.resize(token.size() - content.size());
    }
  }};
}

Decoders replace_decoders(JsonNode const& node) {
  return {[replace = read_replacement(node)](Tokens& tokens) {
    for (auto& token : tokens) token = replace(token);
  }};
}

Decoders sequence_decoders(JsonNode const& node) {
  return read_sequence(node.at("decoders"), read_decoders);
}

}  // namespace

Decoders read_decoders(JsonNode const& node) {
  static ByType<Decoders> const types = {{"ByteLevel", byte_level_decoders},
                                         {"Metaspace", metaspace_decoders},
                                         {"WordPiece", word_piece_decoders},
                                         {"ByteFallback", byte_fallback_decoders},
                                         {"Fuse", fuse_decoders},
                                         {"Strip", strip_decoders},
                                         {"Replace", replace_decoders},
                                         {"Sequence", sequence_decoders}};
  return read_by_type(types, node.text("type"), node);
}

}  // namespace spillway
