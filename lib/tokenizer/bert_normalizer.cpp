// What BERT does with a text before it looks for words.
#include <algorithm>
#include <array>

#include "tokenizer/normalizers.hpp"
#include "tokenizer/unicode.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

struct BertSettings {
  bool clean_text, handle_chinese_chars, strip_accents, lowercase;
};

struct Block {
  char32_t first, last;
};

// Characters of these blocks are words of their own. 2B920 is what the published normalizer has,
// though the block begins at 2B820.
constexpr std::array<Block, 8> kChineseBlocks = {{{0x4E00, 0x9FFF},
                                                  {0x3400, 0x4DBF},
                                                  {0x20000, 0x2A6DF},
                                                  {0x2A700, 0x2B73F},
                                                  {0x2B740, 0x2B81F},
                                                  {0x2B920, 0x2CEAF},
                                                  {0xF900, 0xFAFF},
                                                  {0x2F800, 0x2FA1F}}};

bool is_chinese(char32_t c) {
  return std::ranges::any_of(
      kChineseBlocks, [&](Block const& block) { return c >= block.first && c <= block.last; });
}

template <class Change>
void change_each(std::string& text, Change const& change) {
  std::string result;
  result.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    auto const c = first_code_point(rest);
    change(c.value, result);
    rest.remove_prefix(c.bytes);
  }
  text = std::move(result);
}

void append_clean(char32_t c, std::string& to) {
  bool const is_blank = c == '\t' || c == '\n' || c == '\r';
  if (c == 0 || c == 0xFFFD || (!is_blank && is_other(c))) return;
  append_utf8(is_white_space(c) ? ' ' : c, to);
}

void append_apart(char32_t c, std::string& to) {
  bool const apart = is_chinese(c);
  if (apart) to += ' ';
  append_utf8(c, to);
  if (apart) to += ' ';
}

void append_unless_accent(char32_t c, std::string& to) {
  if (!is_nonspacing_mark(c)) append_utf8(c, to);
}

std::string apply(BertSettings const& settings, std::string text) {
  if (settings.clean_text) change_each(text, append_clean);
  if (settings.handle_chinese_chars) change_each(text, append_apart);
  if (settings.strip_accents) {
    text = normal_form(text, NormalForm::nfd);
    change_each(text, append_unless_accent);
  }
  if (settings.lowercase) change_each(text, append_lower_case);
  return text;
}

}  // namespace

Normalizer read_bert_normalizer(JsonNode const& node) {
  bool const lowercase = node.flag("lowercase", true);
  BertSettings const settings{node.flag("clean_text", true),
                              node.flag("handle_chinese_chars", true),
                              node.flag("strip_accents", lowercase), lowercase};
  return {[=](std::string text) { return apply(settings, std::move(text)); }};
}

}  // namespace spillway
