// Conversations become one text, of which the answers are learned.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/in_directory.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/records/chat_case.hpp"

namespace spillway::chat_documents_test {
namespace {

using test::kChatml;
using test::rules_with;
using test::shown;

constexpr char const* kTwoAnswers =
    R"({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"},
        {"role": "assistant", "content": "d"}]})";

TEST(ChatDocuments, learn_answers_and_the_token_that_ends_them) {
  EXPECT_EQ(shown(kTwoAnswers, rules_with(kChatml)),
            "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\na<|im_end|>\n"
            "<|im_start|>assistant\n[b<|im_end|>]\n<|im_start|>user\nc<|im_end|>\n"
            "<|im_start|>assistant\n[d<|im_end|>]\n");
}

// As Qwen 3: an answer is written otherwise once another question follows.
constexpr char const* kForgets =
    "{% for m in messages %}<{{ m.role[0] }}:{% if loop.last and m.role == 'assistant' %}!{% endif "
    "%}{{ m.content }}</s>{% endfor %}{% if add_generation_prompt %}<a:{% endif %}";

TEST(ChatDocuments, are_one_for_each_answer_where_a_template_writes_earlier_ones_otherwise) {
  auto const made = test::documents(kTwoAnswers, rules_with(kForgets));
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(shown(made[0]), "<s:s</s><u:a</s><a:[!b</s>]");
  EXPECT_EQ(shown(made[1]), "<s:s</s><u:a</s><a:b</s><u:c</s><a:[!d</s>]");
  auto all = rules_with(kForgets);
  all.learns_all = true;
  EXPECT_EQ(test::documents(kTwoAnswers, all).size(), 1u);
}

TEST(ChatDocuments, of_a_completion_are_for_its_own_answers_alone) {
  auto const record =
      R"({"prompt": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                     {"role": "user", "content": "c"}],
          "completion": [{"role": "assistant", "content": "d"}, {"role": "user", "content": "e"},
                         {"role": "assistant", "content": "f"}]})";
  auto const made = test::documents(record, rules_with(kForgets));
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(shown(made[0]), "<u:a</s><a:b</s><u:c</s><a:[!d</s>]");
  EXPECT_EQ(shown(made[1]), "<u:a</s><a:b</s><u:c</s><a:d</s><u:e</s><a:[!f</s>]");
}

std::string question(std::string const& json, RecordRules const& rules) {
  return question_of(Record(json, {"a.jsonl", 7}), rules).text;
}

TEST(ChatQuestions, end_where_the_next_answer_begins) {
  auto const rules = rules_with(kForgets);
  EXPECT_EQ(question(kTwoAnswers, rules), "<s:s</s><u:a</s><a:b</s><u:c</s><a:");
  EXPECT_EQ(question(R"({"prompt": [{"role": "user", "content": "a"}],
                         "completion": [{"role": "assistant", "content": "b"}]})",
                     rules),
            "<u:a</s><a:");
  EXPECT_EQ(question(R"({"prompt": [{"role": "user", "content": "a"}]})", rules), "<u:a</s><a:");
  EXPECT_EQ(test::refused_with([&] {
              question(R"({"messages": [{"role": "assistant", "content": "b"}]})", rules);
            }),
            "a.jsonl:7: has answers alone (messages with the role assistant)");
}

TEST(ChatQuestions, know_what_ends_an_answer) {
  EXPECT_EQ(end_of_answers(rules_with(kChatml)), "<|im_end|>");
  EXPECT_EQ(end_of_answers(rules_with(kForgets)), "</s>");
  EXPECT_EQ(end_of_answers(rules_with("{% for m in messages %}{{ m.content }}{% endfor %}")), "");
}

TEST(ChatDocuments, learn_all_where_it_is_asked) {
  auto rules = rules_with(kChatml);
  rules.learns_all = true;
  EXPECT_FALSE(test::document(kTwoAnswers, rules).learned);
}

TEST(ChatDocuments, learn_what_generation_blocks_print) {
  auto const rules = rules_with(
      "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
      "{% endgeneration %}{% else %}<{{ m.content }}>{% endif %}{% endfor %}");
  EXPECT_EQ(shown(kTwoAnswers, rules), "<s><a>[b]<c>[d]");
}

TEST(ChatDocuments, take_prompts_and_completions_that_are_messages) {
  auto const record =
      R"({"prompt": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                     {"role": "user", "content": "c"}],
          "completion": [{"role": "assistant", "content": "d"}]})";
  EXPECT_EQ(shown(record, rules_with(kChatml)),
            "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n"
            "<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n[d<|im_end|>]\n");
}

TEST(ChatDocuments, take_lists_of_speakers) {
  auto const record = R"({"conversations": [{"from": "human", "value": "a"},
                                            {"from": "gpt", "value": "b"}]})";
  EXPECT_EQ(shown(record, rules_with(kChatml)),
            "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n[b<|im_end|>]\n");
}

TEST(ChatDocuments, hand_tools_and_other_variables_on) {
  auto const rules = rules_with(
      "{% if tools is not none %}{{ tools | tojson }}{% endif %}{{ mode }}{{ eos_token }}"
      "{% for m in messages %}{{ m.content }}{% endfor %}");
  auto const record =
      R"({"messages": [{"role": "assistant", "content": "b"}], "tools": [{"n": 1}],
          "chat_template_kwargs": {"mode": "m"}})";
  EXPECT_EQ(shown(record, rules), R"([{"n": 1}]m</s>[b])");
}

// What jinja2 makes of the same messages with the settings of transformers.
TEST(ChatDocuments, hand_calls_of_tools_on_as_they_are) {
  auto const rules = rules_with(
      "{% for m in messages %}<{{ m.role }}>{% if m.content %}{{ m.content }}{% endif %}"
      "{% for call in m.tool_calls %}{{ call.function.name }}({{ call.function.arguments | tojson "
      "}}){% endfor %}</s>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}");
  auto const record = [](char const* content) {
    return std::string(
               R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", )") +
           content +
           R"("tool_calls": [{"type": "function", "function": {"name": "f", "arguments":)"
           R"( {"x": 1, "y": [true, null]}}}]}, {"role": "tool", "content": "b"}]})";
  };
  auto const text = "<user>a</s><assistant>[f({\"x\": 1, \"y\": [true, null]})</s>]<tool>b</s>";
  EXPECT_EQ(shown(record(""), rules), text);
  EXPECT_EQ(shown(record("\"content\": null, "), rules), text);
}

TEST(ChatDocuments, join_parts_of_text_where_the_template_takes_none) {
  auto const record =
      R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"},
          {"type": "text", "text": " b"}]}, {"role": "assistant",
          "content": [{"type": "text", "text": "c"}]}]})";
  EXPECT_EQ(shown(record, rules_with(kChatml)),
            "<|im_start|>user\na b<|im_end|>\n<|im_start|>assistant\n[c<|im_end|>]\n");
  auto const takes = rules_with(
      "{% for m in messages %}{{ m.role }}:{% for p in m.content %}{{ p.text | trim }}{% endfor %}"
      "</s>{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}");
  EXPECT_EQ(shown(record, takes), "user:ab</s>assistant:[c</s>]");
}

TEST(ChatDocuments, keep_special_tokens_of_messages_from_being_such_tokens) {
  auto const record = R"({"messages": [{"role": "user", "content": "a<|im_end|></s>"},
                                       {"role": "assistant", "content": "<|im_end|>"}]})";
  auto rules = rules_with(kChatml);
  EXPECT_EQ(shown(record, rules),
            "<|im_start|>user\na<!|im_end|><!/s><|im_end|>\n<|im_start|>assistant\n"
            "[<!|im_end|><|im_end|>]\n");
  rules.parses_special = true;
  EXPECT_TRUE(test::document(record, rules).barriers.empty());
}

TEST(ChatDocuments, are_prompts_and_completions_that_are_texts) {
  auto const rules = rules_with(kChatml);
  auto const made = test::document(R"({"prompt": "a ", "completion": "b", "text": "c"})", rules);
  EXPECT_TRUE(made.is_begun && made.is_ended);
  EXPECT_EQ(shown(R"({"prompt": "a ", "completion": "b"})", rules), "a [b]");
  EXPECT_EQ(shown(R"({"text": "a</s>"})", rules), "a</s>");
  auto by_name = rules;
  by_name.text_field = "prompt";
  EXPECT_EQ(shown(R"({"prompt": "a ", "completion": "b"})", by_name), "a ");
}

class ChatTemplates : public test::InDirectory {
 protected:
  void write(std::string const& name, std::string const& text) const {
    std::ofstream(m_dir / name, std::ios::binary) << text;
  }
  std::string rendered() const {
    auto const chat = open_chat_template(m_dir);
    if (!chat) return "none";
    return chat
        ->render({{{"role", "user"}, {"content", "a"}}}, nlohmann::ordered_json::object(), true)
        .text;
  }
};

TEST_F(ChatTemplates, are_read_from_a_models_directory) {
  EXPECT_EQ(rendered(), "none");
  write("special_tokens_map.json", R"({"bos_token": "<s>", "eos_token": "<other>"})");
  write("tokenizer_config.json",
        R"({"eos_token": {"content": "</s>"}, "chat_template": "{{ bos_token + eos_token }}"})");
  EXPECT_EQ(rendered(), "<s></s>");
  write("tokenizer_config.json", R"({"chat_template": [{"name": "rag", "template": "r"},
                                                       {"name": "default", "template": "d"}]})");
  EXPECT_EQ(rendered(), "d");
  EXPECT_TRUE(open_chat_template(m_dir / "")) << "a path with / at its end";
  write("chat_template.jinja", "{{ messages[0].content }}{{ tools is none }}\n");
  EXPECT_EQ(rendered(), "aTrue");
  write("chat_template.jinja", "\n{% include 'x' %}");
  EXPECT_EQ(error_of([&] { rendered(); }).what(),
            (m_dir / "chat_template.jinja").string() +
                ":2: `{% include %}` is not known here before `x`");
}

TEST_F(ChatTemplates, of_a_first_folder_hold_before_those_of_another) {
  auto const rendered = [&] {
    auto const none = nlohmann::ordered_json::object();
    return open_chat_template({m_dir / "first", m_dir})->render({}, none, true).text;
  };
  write("tokenizer_config.json", R"({"eos_token": "</s>", "chat_template": "last"})");
  EXPECT_EQ(rendered(), "last");
  write("chat_template.jinja", "last file");
  std::filesystem::create_directories(m_dir / "first");
  write("first/special_tokens_map.json", R"({"bos_token": "<s>"})");
  EXPECT_EQ(rendered(), "last file");
  write("first/tokenizer_config.json",
        R"({"eos_token": "<e>", "chat_template": "first{{ bos_token + eos_token }}"})");
  EXPECT_EQ(rendered(), "first<s><e>");
  write("first/chat_template.jinja", "first file");
  EXPECT_EQ(rendered(), "first file");
}

}  // namespace
}  // namespace spillway::chat_documents_test
