#include "records/rendered_chat.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "records/special_marks.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

constexpr char const* kBlanks = " \n\r\t";

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

  std::vector<Document> documents() const {
    auto const whole = rendered(m_messages.size(), false);
    if (m_rules.learns_all) return {document(whole.text, {})};
    if (m_rules.chat->has_generation()) return {document(whole.text, generated(whole))};
    auto const all = turns(whole.text);
    std::vector<TextRange> learned;
    for (auto const& turn : all) learned.push_back(turn.answer);
    bool const is_one = std::ranges::all_of(
        all, [&](Turn const& turn) { return whole.text.starts_with(turn.text); });
    if (is_one) return {document(whole.text, learned)};
    std::vector<Document> documents;
    for (auto const& turn : all) documents.push_back(document(turn.text, std::vector{turn.answer}));
    return documents;
  }

  Document question() const {
    auto count = m_given > 0 ? m_given : m_messages.size();
    while (m_given == 0 && count > 0 && is_answer(m_messages[count - 1])) --count;
    if (count == 0) m_record.refuse("has answers alone (messages with the role assistant)");
    return document(rendered(count, true).text, {});
  }

  // Returns an answer, and what stands before it.
  std::string answer_text(std::size_t number) const {
    auto const turn = turn_of(number, rendered(number + 1, false).text);
    return turn.text.substr(turn.answer.begin, turn.answer.end - turn.answer.begin);
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

  // An answer, and the text up to its end.
  struct Turn {
    std::string text;
    TextRange answer;
  };

  std::vector<TextRange> generated(jinja::Rendered const& whole) const {
    std::vector<TextRange> ranges;
    auto const begin = m_given == 0 ? 0 : rendered(m_given, false).text.size();
    for (auto const& [first, last] : whole.generated)
      if (first >= begin && last > first) ranges.push_back({first, last});
    return ranges;
  }

  std::vector<Turn> turns(std::string const& whole) const {
    std::vector<Turn> turns;
    for (auto i = m_given; i < m_messages.size(); ++i) {
      if (!is_answer(m_messages[i])) continue;
      turns.push_back(turn_of(i, i + 1 == m_messages.size() ? whole : rendered(i + 1, false).text));
    }
    return turns;
  }

  // Finds an answer as what stands between the messages before it, where an answer is asked for,
  // and the end of the messages up to it, which are `until`.
  Turn turn_of(std::size_t number, std::string until) const {
    auto const before = rendered(number, true).text;
    if (!until.starts_with(before))
      m_record.refuse(fmt::format(
          "message {}: the chat template does not go on with what asks for an answer, so that it "
          "is not clear which tokens are the answer; --learn all learns all messages",
          number + 1));
    auto const end = end_of_turn(until, before.size());
    return {std::move(until), {before.size(), end}};
  }

  // `learned` may be nothing: all is.
  Document document(std::string const& text,
                    std::optional<std::vector<TextRange>> const& learned) const {
    if (learned && learned->empty())
      m_record.refuse(
          "has no answer (a message with the role assistant), so that nothing would be "
          "learned; --learn all learns all messages");
    Document made{.text = text, .learned = learned};
    if (made.learned) place_without_marks(*made.learned, text);
    made.barriers = m_marks.take_out(made.text);
    return made;
  }

  // Returns the end of an answer without the white space behind the token that ends it.
  std::size_t end_of_turn(std::string_view text, std::size_t begin) const {
    auto const last = text.find_last_not_of(kBlanks);
    if (last == text.npos || last < begin) return text.size();
    bool const has_end = std::ranges::any_of(m_rules.special_tokens, [&](auto const& token) {
      return text.substr(begin, last + 1 - begin).ends_with(token);
    });
    return has_end ? last + 1 : text.size();
  }

  Record const& m_record;
  RecordRules const& m_rules;
  SpecialMarks const& m_marks;
  std::size_t m_given;
  Json m_messages, m_more;
};

// Calls `make` with a renderer of the conversation.
template <class Make>
auto made_of(Record const& record, Conversation const& conversation, RecordRules const& rules,
             Make const& make) {
  if (!rules.no_chat.empty()) record.refuse("has messages, and " + rules.no_chat);
  if (!rules.chat)
    record.refuse(
        "has messages, and no chat template is known: --tokenizer names no directory "
        "with chat_template.jinja, or with `chat_template` in tokenizer_config.json");
  try {
    SpecialMarks const marks(rules.special_tokens, record.json());
    return make(ChatRenderer(record, conversation, rules, marks));
  } catch (std::range_error const& error) {
    record.refuse(error.what());
  }
}

}  // namespace

std::vector<Document> rendered_chat(Record const& record, Conversation const& conversation,
                                    RecordRules const& rules) {
  return made_of(record, conversation, rules, std::mem_fn(&ChatRenderer::documents));
}

Document rendered_question(Record const& record, Conversation const& conversation,
                           RecordRules const& rules) {
  return made_of(record, conversation, rules, std::mem_fn(&ChatRenderer::question));
}

std::string end_of_answers(RecordRules const& rules) {
  std::string const source = "an answer", said = "qzx";
  Record const record(R"({"messages": [{"role": "user", "content": "a"},
                                       {"role": "assistant", "content": "qzx"}]})",
                      {source, 0});
  auto const answer = made_of(record, conversation_of(record), rules,
                              [](ChatRenderer const& chat) { return chat.answer_text(1); });
  auto const at = answer.rfind(said);
  if (at == answer.npos) return "";
  auto const begin = answer.find_first_not_of(kBlanks, at + said.size());
  if (begin == answer.npos) return "";
  return answer.substr(begin, answer.find_last_not_of(kBlanks) + 1 - begin);
}

}  // namespace spillway
