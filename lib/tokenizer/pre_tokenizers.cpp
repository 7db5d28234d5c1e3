#include "tokenizer/pre_tokenizers.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "tokenizer/by_type.hpp"
#include "tokenizer/byte_alphabet.hpp"
#include "tokenizer/unicode.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

using PreTokenizers = std::vector<PreTokenizer>;

constexpr char const* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Of these patterns (GPT-2, Llama 3, Qwen) it is known that they end a match between a letter of
// ASCII and a blank that a letter follows, and begin the next there.
constexpr std::array<std::string_view, 3> kSplittingPatterns = {
    kGpt2Pattern,
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

AtBlanks at_blanks_of(std::string_view pattern) {
  return std::ranges::count(kSplittingPatterns, pattern) > 0 ? AtBlanks::splits : AtBlanks::unknown;
}

void append_section(std::size_t begin, std::size_t end, bool is_split,
                    std::vector<Section>& sections) {
  if (begin < end) sections.push_back({begin, end, is_split});
}

void sections_by(Pattern const& pattern, bool invert, std::string_view word,
                 std::vector<Section>& sections) {
  std::size_t done = 0;
  while (done < word.size()) {
    auto const match = pattern.find(word, done);
    if (!match || match->begin == match->end) break;
    append_section(done, match->begin, invert, sections);
    append_section(match->begin, match->end, !invert, sections);
    done = match->end;
  }
  append_section(done, word.size(), invert, sections);
}

// Every character of which is_split(character) is true is a section of its own.
template <class IsSplit>
void sections_by_character(IsSplit const& is_split, std::string_view word,
                           std::vector<Section>& sections) {
  std::size_t done = 0;
  for (std::size_t at = 0; at < word.size();) {
    auto const c = first_code_point(word.substr(at));
    if (is_split(c.value)) {
      append_section(done, at, false, sections);
      append_section(at, at + c.bytes, true, sections);
      done = at + c.bytes;
    }
    at += c.bytes;
  }
  append_section(done, word.size(), false, sections);
}

template <class IsSplit>
PreTokenizer split_at(IsSplit is_split, SplitBehavior behavior, AtBlanks at_blanks) {
  return {[=](Words& words) {
            split(words, behavior, [&](std::string_view word, std::vector<Section>& sections) {
              sections_by_character(is_split, word, sections);
            });
          },
          at_blanks};
}

PreTokenizer split_by(std::string const& expression, SplitBehavior behavior, bool invert,
                      std::string const& where) {
  auto const pattern = std::make_shared<Pattern const>(expression, where);
  auto const at_blanks =
      behavior == SplitBehavior::isolated ? at_blanks_of(expression) : AtBlanks::unknown;
  return {[=](Words& words) {
            split(words, behavior, [&](std::string_view word, std::vector<Section>& sections) {
              sections_by(*pattern, invert, word, sections);
            });
          },
          at_blanks};
}

PreTokenizers byte_level_steps(JsonNode const& node) {
  PreTokenizers all;
  if (node.flag("add_prefix_space", true))
    all.push_back({[](Words& words) {
                     rewrite(words, [](std::string_view word, bool, std::string& to) {
                       if (!word.starts_with(' ')) to += ' ';
                       to += word;
                     });
                   },
                   AtBlanks::ignores});
  if (node.flag("use_regex", true))
    all.push_back(split_by(kGpt2Pattern, SplitBehavior::isolated, false, node.place()));
  all.push_back({[](Words& words) {
                   rewrite(words, [](std::string_view word, bool, std::string& to) {
                     append_in_alphabet(word, to);
                   });
                 },
                 AtBlanks::ignores});
  return all;
}

SplitBehavior behavior_of(JsonNode const& node, char const* fallback) {
  constexpr std::array<std::string_view, 5> words = {"Removed", "Isolated", "MergedWithPrevious",
                                                     "MergedWithNext", "Contiguous"};
  auto const at = std::ranges::find(words, node.text("behavior", fallback)) - words.begin();
  if (at == std::ssize(words)) node.at("behavior").refuse("is not known here");
  return static_cast<SplitBehavior>(at);
}

// Returns an expression that matches a text as it stands.
std::string literal(std::string const& text) {
  std::string expression;
  for (char const c : text) {
    if (c == '\\' || std::string_view("^$.[]|()?*+{}").find(c) != std::string_view::npos)
      expression += '\\';
    expression += c;
  }
  return expression;
}

PreTokenizers split_steps(JsonNode const& node) {
  auto const pattern = node.at("pattern");
  auto const expression =
      pattern.has("String") ? literal(pattern.text("String")) : pattern.text("Regex");
  return {split_by(expression, behavior_of(node, "Isolated"), node.flag("invert", false),
                   pattern.place())};
}

bool is_any_punctuation(char32_t c) {
  return is_punctuation(c) || c == '$' || c == '+' || (c >= '<' && c <= '>') || c == '^' ||
         c == '`' || c == '|' || c == '~';
}

PreTokenizers white_space_split_steps(JsonNode const&) {
  return {split_at(is_white_space, SplitBehavior::removed, AtBlanks::splits)};
}

PreTokenizers bert_steps(JsonNode const&) {
  return {split_at(is_white_space, SplitBehavior::removed, AtBlanks::splits),
          split_at(is_any_punctuation, SplitBehavior::isolated, AtBlanks::ignores)};
}

PreTokenizers punctuation_steps(JsonNode const& node) {
  return {split_at(is_any_punctuation, behavior_of(node, "Isolated"), AtBlanks::ignores)};
}

PreTokenizers digits_steps(JsonNode const& node) {
  auto const behavior =
      node.flag("individual_digits", false) ? SplitBehavior::isolated : SplitBehavior::contiguous;
  return {split_at(is_number, behavior, AtBlanks::ignores)};
}

enum class PrependScheme : std::uint8_t { always, first, never };

PrependScheme scheme_of(JsonNode const& node) {
  if (!node.has("prepend_scheme"))
    return node.flag("add_prefix_space", true) ? PrependScheme::always : PrependScheme::never;
  constexpr std::array<std::string_view, 3> words = {"always", "first", "never"};
  auto const at = std::ranges::find(words, node.text("prepend_scheme")) - words.begin();
  if (at == std::ssize(words)) node.at("prepend_scheme").refuse("is not known here");
  return static_cast<PrependScheme>(at);
}

// Returns words with `mark` for each blank, and one before them if the scheme says so.
PreTokenizer marked(std::string const& mark, PrependScheme scheme) {
  return {[=](Words& words) {
            rewrite(words, [&](std::string_view word, bool is_first, std::string& to) {
              bool const prepends =
                  scheme == PrependScheme::always || (scheme == PrependScheme::first && is_first);
              if (prepends && !word.starts_with(' ') && !word.starts_with(mark)) to += mark;
              for (char const c : word) {
                if (c == ' ')
                  to += mark;
                else
                  to += c;
              }
            });
          },
          AtBlanks::ignores};
}

PreTokenizers metaspace_steps(JsonNode const& node) {
  auto const mark = node.text("replacement");
  if (mark.empty()) node.at("replacement").refuse("is empty");
  PreTokenizers all = {marked(mark, scheme_of(node))};
  if (node.flag("split", true)) {
    all.push_back(split_by(literal(mark), SplitBehavior::merged_with_next, false, node.place()));
    all.back().at_blanks = AtBlanks::splits;
  }
  return all;
}

PreTokenizers sequence_steps(JsonNode const& node) {
  return read_sequence(node.at("pretokenizers"), read_pre_tokenizers);
}

}  // namespace

PreTokenizers read_pre_tokenizers(JsonNode const& node) {
  static ByType<PreTokenizers> const types = {
      {"ByteLevel", byte_level_steps},    {"Split", split_steps},
      {"BertPreTokenizer", bert_steps},   {"WhitespaceSplit", white_space_split_steps},
      {"Punctuation", punctuation_steps}, {"Digits", digits_steps},
      {"Metaspace", metaspace_steps},     {"Sequence", sequence_steps}};
  return read_by_type(types, node.text("type"), node);
}

}  // namespace spillway
