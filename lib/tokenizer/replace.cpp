#include "tokenizer/replace.hpp"

#include <memory>

#include "tokenizer/pattern.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

// Matches of no bytes are passed over.
std::string all_replaced(std::string_view text, Pattern const& from, std::string_view to) {
  std::string result;
  std::size_t done = 0, next = 0;
  while (next < text.size()) {
    auto const match = from.find(text, next);
    if (!match) break;
    next = match->end;
    if (match->begin == match->end) {
      if (next < text.size()) next += first_code_point(text.substr(next)).bytes;
      continue;
    }
    result.append(text.substr(done, match->begin - done)).append(to);
    done = match->end;
  }
  return result.append(text.substr(done));
}

}  // namespace

std::string all_replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (auto at = text.find(from); at != text.npos; at = text.find(from)) {
    result.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return result.append(text);
}

std::function<std::string(std::string const&)> read_replacement(JsonNode const& node) {
  auto const pattern = node.at("pattern");
  auto const content = node.text("content");
  if (pattern.has("String")) {
    auto const from = pattern.text("String");
    if (from.empty()) pattern.at("String").refuse("is empty");
    return [=](std::string const& text) { return all_replaced(text, from, content); };
  }
  auto const from =
      std::make_shared<Pattern const>(pattern.text("Regex"), pattern.at("Regex").place());
  return [=](std::string const& text) { return all_replaced(text, *from, content); };
}

}  // namespace spillway
