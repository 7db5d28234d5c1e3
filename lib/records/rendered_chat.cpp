#include "records/rendered_chat.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"
#include "records/special_marks.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

bool has_parts(Json const& message) {
  return message.contains("content") && message.at("content").is_array();
}

bool any_has_parts(Json const& messages) {
  return std::ranges::any_of(messages, has_parts);
}

// Puts one text in the place of the parts of each content, as templates that take them do.
void join_parts(Json& messages) {
  for (auto& message : messages) {
    if (!has_parts(message)) continue;
    std::string text;
    for (auto const& part : message.at("content"))
      text += part.at("text").get_ref<std::string const&>();
    message["content"] = text;
  }
}

class ChatRenderer {
 public:
  ChatRenderer(Record const& record, Conversation const& conversation, RecordRules const& rules,
               SpecialMarks const& marks)
      : m_record(record),
        m_rules(rules),
        m_marks(marks),
        m_given(conversation.given),
        m_messages(marked(conversation.messages)),
        m_more(marked(conversation.more)) {
    if (any_has_parts(m_messages) && !takes_parts()) join_parts(m_messages);
  }

  Document document() const {
    auto const whole = rendered(m_messages.size(), false);
    Document made;
    if (!m_rules.learns_all) made.learned = answers(whole);
    if (made.learned && made.learned->empty())
      m_record.refuse(
          "has no answer (a message with the role assistant), so that nothing would be "
          "learned; --learn all learns all messages");
    made.text = whole.text;
    if (made.learned) place_without_marks(*made.learned, whole.text);
    made.barriers = m_marks.take_out(made.text);
    return made;
  }

 private:
  Json marked(Json const& json) const {
    return m_rules.parses_special ? json : m_marks.marked(json);
  }

  void place_without_marks(std::vector<TextRange>& ranges, std::string const& text) const {
    for (auto& [begin, end] : ranges) {
      begin = m_marks.place_without(text, begin);
      end = m_marks.place_without(text, end);
    }
  }

  // Renders the first `count` messages.
  jinja::Rendered rendered(std::size_t count, bool asks) const {
    Json const messages(m_messages.begin(),
                        m_messages.begin() + static_cast<std::ptrdiff_t>(count));
    try {
      return m_rules.chat->render(messages, m_more, asks);
    } catch (Error const& error) {
      m_record.refuse(error.what());
    }
  }

  // Returns whether the template takes contents that are lists of parts. One that only prints texts
  // would print them as Python writes lists, which is refused.
  bool takes_parts() const {
    try {
      m_rules.chat->render(m_messages, m_more, false);
      return true;
    } catch (Error const&) {
      return false;
    }
  }

  std::vector<TextRange> answers(jinja::Rendered const& whole) const {
    std::vector<TextRange> ranges;
    if (m_rules.chat->has_generation()) {
      auto const begin = m_given == 0 ? 0 : rendered(m_given, false).text.size();
      for (auto const& [first, last] : whole.generated)
        if (first >= begin && last > first) ranges.push_back({first, last});
      return ranges;
    }
    for (auto i = m_given; i < m_messages.size(); ++i)
      if (is_answer(m_messages[i])) ranges.push_back(answer(i, whole.text));
    return ranges;
  }

  // Finds an answer as what stands between the messages before it, where an answer is asked for,
  // and the end of the messages up to it.
  TextRange answer(std::size_t number, std::string const& whole) const {
    auto const before = rendered(number, true).text;
    auto const until = number + 1 == m_messages.size() ? whole : rendered(number + 1, false).text;
    if (!until.starts_with(before)) unclear(number, "does not go on with what asks for an answer");
    if (!whole.starts_with(until)) unclear(number, "writes it otherwise where more follows");
    return {before.size(), end_of_turn(until, before.size())};
  }

  // Returns the end of an answer without the white space behind the token that ends it.
  std::size_t end_of_turn(std::string_view text, std::size_t begin) const {
    auto const last = text.find_last_not_of(" \n\r\t");
    if (last == text.npos || last < begin) return text.size();
    bool const has_end = std::ranges::any_of(m_rules.special_tokens, [&](auto const& token) {
      return text.substr(begin, last + 1 - begin).ends_with(token);
    });
    return has_end ? last + 1 : text.size();
  }

  [[noreturn]] void unclear(std::size_t number, char const* why) const {
    m_record.refuse(fmt::format(
        "message {}: the chat template {}, so that it is not clear which tokens are the answer; "
        "give records that end with their only answer, or --learn all",
        number + 1, why));
  }

  Record const& m_record;
  RecordRules const& m_rules;
  SpecialMarks const& m_marks;
  std::size_t m_given;
  Json m_messages, m_more;
};

}  // namespace

Document rendered_chat(Record const& record, Conversation const& conversation,
                       RecordRules const& rules) {
  if (!rules.no_chat.empty()) record.refuse("has messages, and " + rules.no_chat);
  if (!rules.chat)
    record.refuse(
        "has messages, and no chat template is known: --tokenizer names no directory "
        "with chat_template.jinja, or with `chat_template` in tokenizer_config.json");
  try {
    SpecialMarks const marks(rules.special_tokens, record.json());
    return ChatRenderer(record, conversation, rules, marks).document();
  } catch (std::range_error const& error) {
    record.refuse(error.what());
  }
}

}  // namespace spillway
