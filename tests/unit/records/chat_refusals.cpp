// Records whose answers are not clear are refused with file, line and message.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/records/chat_case.hpp"

namespace spillway::chat_refusals_test {
namespace {

using test::kChatml;
using test::refusal;
using test::rules_with;

TEST(ChatRefusals, name_file_line_and_message) {
  auto const rules = rules_with(kChatml);
  EXPECT_EQ(refusal(R"({"messages": []})", rules), "a.jsonl:7: has no message");
  EXPECT_EQ(refusal(R"({"messages": "a"})", rules), "a.jsonl:7: `messages` is no list of messages");
  EXPECT_EQ(refusal(R"({"messages": [1]})", rules),
            "a.jsonl:7: message 1 of `messages`: is no object");
  EXPECT_EQ(refusal(R"({"messages": [{"role": "user", "content": null}]})", rules),
            "a.jsonl:7: message 1 of `messages`: `content` is no text");
  EXPECT_EQ(refusal(R"({"conversations": [{"from": "cat", "value": "a"}]})", rules),
            "a.jsonl:7: message 1 of `conversations`: has neither `role` nor a known `from` with a "
            "`value`");
  EXPECT_EQ(
      refusal(R"({"messages": [{"role": "user", "content": "a"}]})", rules),
      "a.jsonl:7: has no answer (a message with the role assistant), so that nothing would be "
      "learned; --learn all learns all messages");
  EXPECT_EQ(refusal(R"({"prompt": "a", "completion": 1})", rules),
            "a.jsonl:7: `completion` is number, no text");
  EXPECT_EQ(refusal(R"({"body": "a"})", rules), "a.jsonl:7: has no field `text`, but `body`");
  EXPECT_EQ(refusal(R"({"messages": [{"role": "assistant"}]})", rules),
            "a.jsonl:7: message 1 of `messages`: `content` is no text");
  auto const of_part = [&](std::string const& part) {
    return refusal(R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, )" +
                       part + "]}]}",
                   rules);
  };
  std::string const at = "a.jsonl:7: message 1 of `messages`: part 2 of `content`";
  EXPECT_EQ(of_part(R"({"type": "image_url", "image_url": {}})"),
            at + " is of the type `image_url`; only `text` is known");
  EXPECT_EQ(of_part(R"("b")"), at + " is no object with a `type`");
  EXPECT_EQ(of_part(R"({"type": "text"})"), at + " has no `text`");
}

TEST(ChatRefusals, name_the_fields_that_are_known_for_those_of_others) {
  auto const rules = rules_with(kChatml);
  EXPECT_EQ(refusal(R"({"instruction": "a", "input": "", "output": "b"})", rules),
            "a.jsonl:7: has no field `text`, but `instruction`, `input`, `output`; of these jq "
            "makes a prompt and its completion, which are known: jq -c '{prompt: ([.instruction, "
            ".input] | map(select((. // \"\") != \"\")) | join(\"\\n\") + \"\\n\"), completion: "
            ".output}' "
            "a.jsonl > prompts.jsonl");
  EXPECT_NE(refusal(R"({"question": "a", "answer": "b"})", rules)
                .find("{prompt: ([.question] | map(select((. // \"\") != \"\")) | join(\"\\n\") + "
                      "\"\\n\"), completion: .answer}"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"question": "a", "answer": "b"})", rules, "a.parquet")
                .find("known: python3 -c \"import pandas; pandas.read_parquet('a.parquet').to_json("
                      "'/dev/stdout', orient='records', lines=True)\" | jq -c '{prompt: "),
            std::string::npos);
}

TEST(ChatRefusals, are_for_what_is_nested_too_deeply) {
  auto const record = [](std::size_t depth) {
    return R"({"messages": [{"role": "user", "content": "[[\"["}, )"
           R"({"role": "assistant", "content": "b",)"
           R"( "more": )" +
           std::string(depth, '[') + std::string(depth, ']') + "}]}";
  };
  EXPECT_EQ(refusal(record(150), rules_with(kChatml)), "no error");
  EXPECT_EQ(refusal(record(300'000), rules_with(kChatml)), "a.jsonl:7: is nested too deeply");
}

TEST(ChatRefusals, say_why_there_is_no_template) {
  auto const record = R"({"messages": [{"role": "assistant", "content": "a"}]})";
  RecordRules rules;
  EXPECT_EQ(
      refusal(record, rules),
      "a.jsonl:7: has messages, and no chat template is known: --tokenizer names no directory "
      "with chat_template.jinja, or with `chat_template` in tokenizer_config.json");
  rules.no_chat = "chat.jinja:1: is not known";
  EXPECT_EQ(refusal(record, rules), "a.jsonl:7: has messages, and chat.jinja:1: is not known");
}

TEST(ChatRefusals, are_for_templates_that_do_not_ask_as_they_answer) {
  auto const record =
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})";
  auto const asks_otherwise = rules_with(
      "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}?{% endif "
      "%}");
  EXPECT_NE(refusal(record, asks_otherwise)
                .find("message 2: the chat template does not go on with what asks for an answer"),
            std::string::npos);
  auto const alternates = rules_with("{{ raise_exception('roles must alternate') }}");
  EXPECT_EQ(refusal(record, alternates),
            "a.jsonl:7: chat.jinja:1: the template refuses it: roles must alternate");
}

}  // namespace
}  // namespace spillway::chat_refusals_test
