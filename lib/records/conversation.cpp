#include "records/conversation.hpp"

#include <fmt/core.h>

#include <array>
#include <string_view>

#include "records/documents.hpp"

namespace spillway {
namespace {

using Json = Record::Json;

// What speakers are called in lists of `from` and `value`, and their roles.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSpeakers = {
    {{"human", "user"},
     {"user", "user"},
     {"gpt", "assistant"},
     {"assistant", "assistant"},
     {"chatgpt", "assistant"},
     {"system", "system"},
     {"tool", "tool"},
     {"observation", "tool"}}};

Json message_of_speaker(Json const& message, Record const& record, std::string const& where) {
  auto const from = message.value("from", Json());
  for (auto const& [speaker, role] : kSpeakers)
    if (from.is_string() && from == speaker && message.contains("value"))
      return {{"role", role}, {"content", message.at("value")}};
  record.refuse(fmt::format("{}: has neither `role` nor a known `from` with a `value`", where));
}

// Throws unless all parts are texts, since nothing else is learned here.
void require_texts(Json const& parts, Record const& record, std::string const& where) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto const at = fmt::format("{}: part {} of `content`", where, i + 1);
    auto const& part = parts[i];
    auto const type = part.is_object() ? part.value("type", Json()) : Json();
    if (!type.is_string()) record.refuse(at + " is no object with a `type`");
    if (type != "text")
      record.refuse(fmt::format("{} is of the type `{}`; only `text` is known", at,
                                type.get_ref<std::string const&>()));
    if (!part.contains("text") || !part.at("text").is_string())
      record.refuse(at + " has no `text`");
  }
}

Json message_of(Json const& message, Record const& record, std::string const& where) {
  if (!message.is_object()) record.refuse(fmt::format("{}: is no object", where));
  if (!message.contains("role")) return message_of_speaker(message, record, where);
  if (!message.at("role").is_string()) record.refuse(fmt::format("{}: `role` is no text", where));
  auto const content = message.value("content", Json());
  bool const has_more = message.size() > (message.contains("content") ? 2 : 1);
  bool const is_content = content.is_string() || content.is_array() || has_more;
  if (!is_content) record.refuse(fmt::format("{}: `content` is no text", where));
  if (content.is_array()) require_texts(content, record, where);
  return message;
}

void append_messages(Record const& record, std::string const& field, Json& to) {
  auto const& list = record.at(field);
  if (!list.is_array()) record.refuse(fmt::format("`{}` is no list of messages", field));
  for (auto const& one : list)
    to.push_back(message_of(one, record, fmt::format("message {} of `{}`", to.size() + 1, field)));
}

}  // namespace

bool has_messages(Record const& record) {
  auto const is_list = [&](char const* field) {
    return record.has(field) && record.json().at(field).is_array();
  };
  return record.has("messages") || record.has("conversations") || is_list("prompt");
}

Conversation conversation_of(Record const& record) {
  Conversation conversation{Json::array()};
  auto& messages = conversation.messages;
  if (record.has("messages")) {
    append_messages(record, "messages", messages);
  } else if (record.has("conversations")) {
    append_messages(record, "conversations", messages);
  } else {
    append_messages(record, "prompt", messages);
    conversation.given = messages.size();
    if (record.has("completion")) append_messages(record, "completion", messages);
  }
  if (messages.empty()) record.refuse("has no message");
  if (record.has("chat_template_kwargs") && record.at("chat_template_kwargs").is_object())
    conversation.more = record.at("chat_template_kwargs");
  if (record.has("tools")) conversation.more["tools"] = record.at("tools");
  return conversation;
}

bool is_answer(Json const& message) {
  return message.at("role") == "assistant";
}

}  // namespace spillway
