#include "app/chat.hpp"

#include <utility>

#include "base/compact_json.hpp"
#include "base/error.hpp"
#include "records/record.hpp"

namespace spillway {
namespace {

// A template may refuse the conversation that is tried, and then does not say how answers end.
std::vector<std::int32_t> ends_of(RecordRules const& rules, Tokenizer const& tokenizer) {
  std::vector<std::int32_t> ends;
  try {
    if (auto const end = end_of_answers(rules); !end.empty())
      tokenizer.encoder()->encode(end, ends);
  } catch (Error const&) {
  }
  if (ends.size() > 1) ends.clear();
  if (auto const end = tokenizer.facts().end) ends.push_back(*end);
  return ends;
}

}  // namespace

nlohmann::ordered_json message_of(std::string const& role, std::string const& text) {
  return {{"role", role}, {"content", text}};
}

std::string record_of(nlohmann::ordered_json const& messages) {
  return compact_json(nlohmann::ordered_json{{"messages", messages}});
}

Chat::Chat(RecordRules rules, Tokenizer const& tokenizer, std::optional<std::string> system)
    : m_rules(std::move(rules)),
      m_tokenizer(tokenizer),
      m_system(std::move(system)),
      m_ends(ends_of(m_rules, tokenizer)) {}

Chat::Json Chat::beginning() const {
  auto messages = Json::array();
  if (m_system) messages.push_back(message_of("system", *m_system));
  return messages;
}

std::string Chat::with_system(std::string const& record, std::string const& where) const {
  auto json = Record(record, {where, 0}).json();
  for (auto const* field : {"messages", "conversations", "prompt"}) {
    if (!json.contains(field) || !json[field].is_array()) continue;
    auto& list = json[field];
    auto const& first = list.empty() ? Json::object() : list.front();
    bool const has_one = first.is_object() && (first.value("role", Json()) == "system" ||
                                               first.value("from", Json()) == "system");
    if (!has_one) list.insert(list.begin(), message_of("system", *m_system));
    break;
  }
  return compact_json(json);
}

std::vector<std::int32_t> Chat::question(std::string const& record,
                                         std::string const& where) const {
  auto const text = m_system ? with_system(record, where) : record;
  auto const asked = question_of(Record(text, {where, 0}), m_rules);
  std::vector<std::int32_t> ids;
  std::vector<std::size_t> counts;
  m_tokenizer.encoder()->encode({asked.text, asked.barriers, {}}, ids, counts);
  return ids;
}

}  // namespace spillway
