#include "tokenizer/added_tokens.hpp"

#include <algorithm>

#include "tokenizer/unicode.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

bool ends_with_word(std::string_view text) {
  return !text.empty() && is_word_character(last_code_point(text).value);
}

bool starts_with_word(std::string_view text) {
  return !text.empty() && is_word_character(first_code_point(text).value);
}

std::string_view without_white_end(std::string_view text) {
  while (!text.empty() && is_white_space(last_code_point(text).value))
    text.remove_suffix(last_code_point(text).bytes);
  return text;
}

std::size_t white_beginning_bytes(std::string_view text) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    auto const c = first_code_point(text.substr(bytes));
    if (!is_white_space(c.value)) break;
    bytes += c.bytes;
  }
  return bytes;
}

bool has_between(std::span<std::size_t const> places, std::size_t begin, std::size_t end) {
  auto const next = std::ranges::upper_bound(places, begin);
  return next != places.end() && *next < end;
}

bool has_blank_between_letters(std::string_view text) {
  for (std::size_t i = 1; i + 1 < text.size(); ++i)
    if (text[i] == ' ' && is_ascii_letter(text[i - 1]) && is_ascii_letter(text[i + 1])) return true;
  return false;
}

// Returns whether a token may take a blank beside it, or must look beyond one.
bool reaches_out(AddedToken const& token) {
  auto const& text = token.content;
  if (text.front() == ' ' || text.back() == ' ') return true;
  bool const begins_with_letter = is_ascii_letter(text.front()),
             ends_with_letter = is_ascii_letter(text.back());
  return (token.left_strip && begins_with_letter) || (token.right_strip && ends_with_letter);
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, Vocabulary const& vocabulary,
                         std::vector<Normalizer> const& normalizers)
    : m_tokens(std::move(tokens)) {
  std::array<std::vector<PrefixTree::Entry>, 2> entries;
  for (std::size_t i = 0; i < m_tokens.size(); ++i) {
    auto& token = m_tokens[i];
    token.id = vocabulary.id_of(token.content).value_or(token.id);
    m_by_id[token.id] = i;
    auto const text = token.is_normalized ? normalized(normalizers, token.content) : token.content;
    if (text.empty()) continue;
    entries[token.is_normalized].emplace_back(text, static_cast<std::int32_t>(i));
    m_finders[token.is_normalized].is_first[static_cast<unsigned char>(text.front())] = true;
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    m_finders[i].tree = PrefixTree(std::move(entries[i]));
}

AddedTokens::Found AddedTokens::longest(Finder const& finder, std::string_view text) const {
  Found found;
  if (!finder.is_first[static_cast<unsigned char>(text.front())]) return found;
  finder.tree.each_prefix(text, [&](std::size_t bytes, std::int32_t token) {
    found = {bytes, static_cast<std::size_t>(token)};
  });
  return found;
}

void AddedTokens::append_parts(std::string_view text, bool is_normalized,
                               std::vector<TextPart>& parts,
                               std::span<std::size_t const> barriers) const {
  auto const& finder = m_finders[is_normalized];
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    auto const found = longest(finder, text.substr(at));
    if (found.bytes == 0) {
      ++at;
      continue;
    }
    auto const& token = m_tokens[found.token];
    auto begin = at, end = at + found.bytes;
    if (token.is_special && has_between(barriers, begin, end)) {
      ++at;
      continue;
    }
    at = end;
    if (token.single_word &&
        (ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end))))
      continue;
    if (token.left_strip) begin = std::max(without_white_end(text.substr(0, begin)).size(), done);
    if (token.right_strip) end += white_beginning_bytes(text.substr(end));
    if (begin < done) continue;  // the one before it has taken a part of it
    if (done < begin) parts.push_back({text.substr(done, begin - done)});
    parts.push_back({text.substr(begin, end - begin), token.id});
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done)});
}

bool AddedTokens::are_local() const {
  return std::ranges::none_of(m_tokens, [](AddedToken const& token) {
    return token.content.empty() || has_blank_between_letters(token.content) || reaches_out(token);
  });
}

std::vector<AddedToken> read_added_tokens(JsonNode const& list) {
  std::vector<AddedToken> tokens;
  for (auto const& one : list.elements())
    tokens.push_back({.content = one.text("content"),
                      .id = one.id("id"),
                      .single_word = one.flag("single_word", false),
                      .left_strip = one.flag("lstrip", false),
                      .right_strip = one.flag("rstrip", false),
                      .is_normalized = one.flag("normalized", true),
                      .is_special = one.flag("special", false)});
  return tokens;
}

}  // namespace spillway
