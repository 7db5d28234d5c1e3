#include "records/record.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/one_line.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

// Returns what a message of the JSON library says, without its number and the text around it.
std::string reason_in(std::string const& message) {
  auto const begin = message.find("] ");
  auto const text = begin == message.npos ? message : message.substr(begin + 2);
  return text.substr(0, text.find("; last read"));
}

// Returns how deep brackets lie in each other.
int depth_of(std::string_view json) {
  int depth = 0, most = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    auto const c = json[i];
    if (c == '"') is_string = !is_string;
    if (is_string && c == '\\') ++i;
    if (is_string) continue;
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return most;
}

}  // namespace

Record::Record(std::string_view json, RecordOrigin origin) : m_origin(origin) {
  constexpr int most_depth = 200;  // what follows a value into its parts does so on the stack
  if (depth_of(json) > most_depth) refuse("is nested too deeply");
  m_json = Json::parse(json, nullptr, false);
  if (m_json.is_discarded()) {  // it may become JSON where bytes that are no UTF-8 are replaced
    try {
      m_json = Json::parse(as_utf8(json));
    } catch (Json::exception const& error) {
      refuse("is no JSON: " + reason_in(error.what()));
    }
  }
  if (!m_json.is_object() && !m_json.is_string())
    refuse(fmt::format("is {}, neither an object nor a text", m_json.type_name()));
}

Record::Json const& Record::at(std::string const& field) const {
  if (!m_json.is_object()) refuse(fmt::format("is a text alone and has no field `{}`", field));
  auto const found = m_json.find(field);
  if (found == m_json.end()) refuse(fmt::format("has no field `{}`, but {}", field, fields()));
  return *found;
}

std::string const& Record::text(std::string const& field) const {
  auto const& value = at(field);
  if (!value.is_string()) refuse(fmt::format("`{}` is {}, no text", field, value.type_name()));
  return value.get_ref<std::string const&>();
}

void Record::refuse(std::string const& why) const {
  auto const line = m_origin.line > 0 ? fmt::format(":{}", m_origin.line) : std::string();
  throw Error(Status::bad_input, fmt::format("{}{}: {}", m_origin.path, line, one_line(why)));
}

std::string Record::fields() const {
  constexpr std::size_t most = 12;
  std::string names;
  std::size_t count = 0;
  for (auto const& [name, _] : m_json.items()) {
    if (++count > most) return names + ", ..";
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", (name));
  }
  return names.empty() ? "no field at all" : names;
}

}  // namespace spillway
