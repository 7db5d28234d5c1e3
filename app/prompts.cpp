#include "app/prompts.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "base/compact_json.hpp"
#include "base/input_file.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "records/record.hpp"
#include "samples/byte_text.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostPromptBytes = std::int64_t{1} << 30;

// A PromptReader makes Prompts for one model. `where` names a prompt in errors.
class PromptReader {
 public:
  PromptReader(GenerateArguments const& arguments, RunState const& state, Recipe const& recipe,
               PromptMakers const& makers)
      : m_arguments(arguments),
        m_state(state),
        m_recipe(recipe),
        m_tokenizer(makers.tokenizer),
        m_chat(makers.chat),
        m_no_chat(makers.no_chat) {}

  Prompt of_ids(std::vector<std::int64_t> const& ids, std::string const& where) const {
    Prompt prompt{PromptForm::ids, {}};
    for (auto const id : ids) {
      if (id < 0 || id >= m_state.vocab)
        refuse(where, fmt::format("{} is not in the model's vocabulary of {}", id, m_state.vocab));
      prompt.tokens.push_back(static_cast<std::int32_t>(id));
    }
    if (ids.empty()) refuse(where, "is empty; give at least one token");
    return prompt;
  }

  Prompt of_text(std::string const& text, std::string const& where) const {
    if (m_arguments.chat) {
      auto messages = m_chat->beginning();
      messages.push_back(message_of("user", text));
      return {PromptForm::text, of_record(record_of(messages), where), text};
    }
    if (m_tokenizer != nullptr) return {PromptForm::text, by_tokenizer(text, where), text};
    if (m_state.tokenizer != kByteTokenizer)
      refuse(where,
             fmt::format("{} has tokens of '{}', and carries no tokenizer; give {}, or --tokenizer",
                         m_arguments.checkpoint, m_state.tokenizer,
                         where == "--prompt" ? "--prompt-ids" : "prompt_ids in a .jsonl file"));
    if (text.empty()) refuse(where, "is empty; give at least one character");
    return {PromptForm::text, tokens_of(text, m_recipe), text};
  }

  Prompt of_json(std::string const& line, std::string const& where) const {
    auto const json = Json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("prompt") && json["prompt"].is_string())
      return of_text(json["prompt"].get<std::string>(), where);
    if (json.is_object() && has_messages(Record(line, {where, 0}))) {
      if (m_chat == nullptr) refuse(where, "has messages, and " + m_no_chat);
      return {PromptForm::text, of_record(line, where), "", line};
    }
    if (!json.is_object() || !json.contains("prompt_ids") || !json["prompt_ids"].is_array())
      refuse(where, R"(is no object such as {"prompt": "Once"} or {"prompt_ids": [464, 3290]})");
    std::vector<std::int64_t> ids;
    for (auto const& id : json["prompt_ids"]) {
      if (!id.is_number_integer()) refuse(where, "prompt_ids are whole numbers");
      ids.push_back(id.get<std::int64_t>());
    }
    return of_ids(ids, where);
  }

 private:
  // Returns what a model reads of a text, with the special tokens around it that it has learnt. A
  // text that is gone on with does not end yet.
  std::vector<std::int32_t> by_tokenizer(std::string const& text, std::string const& where) const {
    auto const& facts = m_tokenizer->facts();
    auto tokens = facts.before;
    m_tokenizer->encoder()->encode(text, tokens);
    if (m_recipe.objective != Objective::next)
      tokens.insert(tokens.end(), facts.after.begin(), facts.after.end());
    require_known(tokens, where);
    return tokens;
  }

  std::vector<std::int32_t> of_record(std::string const& record, std::string const& where) const {
    auto tokens = m_chat->question(record, where);
    require_known(tokens, where);
    return tokens;
  }

  void require_known(std::vector<std::int32_t> const& tokens, std::string const& where) const {
    for (auto const id : tokens)
      if (id >= m_state.vocab)
        refuse(where, fmt::format("token {} of {} is not in the model's vocabulary of {}", id,
                                  m_tokenizer->facts().name, m_state.vocab));
    if (tokens.empty()) refuse(where, "has no token; give at least one character");
  }

  [[noreturn]] static void refuse(std::string const& where, std::string const& why) {
    throw Error(Status::bad_input, fmt::format("{}: {}", where, why));
  }

  GenerateArguments const& m_arguments;
  RunState const& m_state;
  Recipe const& m_recipe;
  Tokenizer const* m_tokenizer;
  Chat const* m_chat;
  std::string const& m_no_chat;
};

std::vector<Prompt> prompts_in(std::string const& path, PromptReader const& reader) {
  std::istringstream lines(read_input(path, kMostPromptBytes));
  std::vector<Prompt> prompts;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    auto const where = fmt::format("{}:{}", path, number);
    prompts.push_back(is_jsonl(path) ? reader.of_json(line, where) : reader.of_text(line, where));
  }
  if (prompts.empty()) throw Error(Status::bad_input, path + ": has no prompt");
  return prompts;
}

std::string line_of(Prompt const& prompt, std::pair<std::string, Json> const& made) {
  Json json;
  if (!prompt.messages.empty()) json = Json::parse(prompt.messages, nullptr, false);
  if (prompt.form == PromptForm::text && prompt.messages.empty()) json["prompt"] = prompt.text;
  if (prompt.form == PromptForm::ids) json["prompt_ids"] = prompt.tokens;
  json[made.first] = made.second;
  return compact_json(json) + "\n";
}

}  // namespace

bool is_jsonl(std::string const& path) {
  return path.ends_with(".jsonl");
}

std::vector<Prompt> prompts_of(GenerateArguments const& arguments, RunState const& state,
                               Recipe const& recipe, PromptMakers const& makers) {
  PromptReader const reader(arguments, state, recipe, makers);
  if (!arguments.prompts.empty()) return prompts_in(arguments.prompts, reader);
  if (!arguments.prompt_ids.empty()) return {reader.of_ids(arguments.prompt_ids, "--prompt-ids")};
  if (!arguments.prompt && arguments.chat) return {};
  if (!arguments.prompt)
    throw Error(Status::bad_input, "generate: give --prompt, --prompt-ids or --prompts");
  return {reader.of_text(*arguments.prompt, "--prompt")};
}

std::string jsonl_line(Prompt const& prompt, std::string const& text) {
  return line_of(prompt, {"text", text});
}

std::string jsonl_line(Prompt const& prompt, std::vector<std::int32_t> const& ids) {
  return line_of(prompt, {"ids", ids});
}

}  // namespace spillway
