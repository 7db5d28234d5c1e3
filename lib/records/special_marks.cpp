#include "records/special_marks.hpp"

#include <algorithm>
#include <stdexcept>

#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

bool holds(nlohmann::ordered_json const& json, std::string_view text) {
  if (json.is_string()) return json.get_ref<std::string const&>().find(text) != std::string::npos;
  return std::ranges::any_of(json, [&](auto const& one) {
    return (one.is_structured() || one.is_string()) && holds(one, text);
  });
}

}  // namespace

// U+FDD0 to U+FDEF are for such uses, and stand for no character in any text.
SpecialMarks::SpecialMarks(std::vector<std::string> const& special_tokens,
                           nlohmann::ordered_json const& json)
    : m_special_tokens(special_tokens) {
  for (int last = 0x90; last < 0xb0; ++last) {
    m_mark = "\xef\xb7" + std::string(1, static_cast<char>(last));
    if (!holds(json, m_mark)) return;
  }
  throw std::range_error("has all of U+FDD0 to U+FDEF, which stand for no character");
}

void SpecialMarks::mark(nlohmann::ordered_json& json) const {
  if (json.is_structured())
    for (auto& one : json) mark(one);
  if (!json.is_string()) return;
  auto& text = json.get_ref<std::string&>();
  for (auto const& token : m_special_tokens) {
    auto const behind = first_code_point(token).bytes;
    for (auto at = text.find(token); at != text.npos; at = text.find(token, at + 1))
      text.insert(at + behind, m_mark);
  }
}

nlohmann::ordered_json SpecialMarks::marked(nlohmann::ordered_json json) const {
  mark(json);
  return json;
}

std::vector<std::size_t> SpecialMarks::take_out(std::string& text) const {
  std::vector<std::size_t> places;
  auto at = text.find(m_mark);
  if (at == text.npos) return places;
  std::string rest;
  std::size_t begin = 0;
  for (; at != text.npos; at = text.find(m_mark, begin)) {
    rest.append(text, begin, at - begin);
    places.push_back(rest.size());
    begin = at + m_mark.size();
  }
  rest.append(text, begin);
  text = std::move(rest);
  return places;
}

std::size_t SpecialMarks::place_without(std::string_view marked, std::size_t place) const {
  std::size_t marks = 0;
  for (auto at = marked.find(m_mark); at < place; at = marked.find(m_mark, at + 1)) ++marks;
  return place - marks * m_mark.size();
}

}  // namespace spillway
