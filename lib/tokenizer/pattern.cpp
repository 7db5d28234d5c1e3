#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/pattern.hpp"

#include <fmt/core.h>
#include <pcre2.h>

#include <array>
#include <new>

#include "base/error.hpp"

namespace spillway {
namespace {

// PCRE2 takes U+180E for a space, which Unicode does not since version 6.3.
constexpr std::string_view kWhiteSpace =
    R"(\t-\r \x85\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

// Returns the expression with the characters of White_Space written out for \s and \S.
std::string with_white_space(std::string const& expression, std::string const& where) {
  std::string result;
  bool in_class = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    auto const c = expression[i];
    auto const next = i + 1 < expression.size() ? expression[i + 1] : '\0';
    if (c == '\\' && (next == 's' || next == 'S')) {
      if (in_class && next == 'S')
        throw Error(Status::bad_input, where + R"(: \S inside [..] is not known here)");
      if (in_class)
        result += kWhiteSpace;
      else
        result += fmt::format("[{}{}]", next == 'S' ? "^" : "", kWhiteSpace);
      ++i;
    } else if (c == '\\') {
      result += c;
      result += next;
      ++i;
    } else {
      in_class = in_class ? c != ']' : c == '[';
      result += c;
    }
  }
  return result;
}

std::string error_text_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<char const*>(text.data());
}

using MatchData = UniqueHandle<pcre2_real_match_data_8*, free_match, nullptr>;

// A thread's matches need memory of its own.
pcre2_match_data* match_of_this_thread() {
  thread_local MatchData const match(pcre2_match_data_create(1, nullptr));
  if (match.get() == nullptr) throw std::bad_alloc();
  return match.get();
}

}  // namespace

void free_pattern(pcre2_real_code_8* code) noexcept {
  pcre2_code_free(code);
}

void free_match(pcre2_real_match_data_8* match) noexcept {
  pcre2_match_data_free(match);
}

Pattern::Pattern(std::string const& expression, std::string const& where) : m_where(where) {
  auto const written = with_white_space(expression, where);
  int error = 0;
  PCRE2_SIZE at = 0;
  auto* const code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(written.data()), written.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK | PCRE2_NEVER_BACKSLASH_C, &error, &at, nullptr);
  if (code == nullptr)
    throw Error(Status::bad_input, fmt::format("{}: {}", where, error_text_of(error)));
  m_code = decltype(m_code)(code);
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // without it, matching is slower
}

std::optional<Match> Pattern::find(std::string_view text, std::size_t from) const {
  auto* const match = match_of_this_thread();
  auto const count = pcre2_match(m_code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                 text.size(), from, PCRE2_NO_UTF_CHECK, match, nullptr);
  if (count == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (count < 0)
    throw Error(Status::bad_input, fmt::format("{}: cannot be matched with this text: {}", m_where,
                                               error_text_of(count)));
  auto const* const places = pcre2_get_ovector_pointer(match);
  return Match{places[0], places[1]};
}

}  // namespace spillway
