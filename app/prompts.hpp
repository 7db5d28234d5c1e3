// Reads what `generate` is to go on with: a text or token ids of the command line, or the lines of
// a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/chat.hpp"
#include "app/commands.hpp"
#include "app/generated.hpp"
#include "samples/recipe.hpp"
#include "state/run_state.hpp"
#include "tokenizer/tokenizer.hpp"

namespace spillway {

struct Prompt {
  PromptForm form = PromptForm::text;
  std::vector<std::int32_t> tokens;
  std::string text = {};      // as it was given; empty if ids were, or messages
  std::string messages = {};  // as they were given, as JSON: the record that has them
};

// What texts and messages become tokens by.
struct PromptMakers {
  Tokenizer const* tokenizer;  // null: texts are bytes
  Chat const* chat;            // null: there are no messages
  std::string const& no_chat;  // why there are none
};

// Returns all prompts that the user gave: at least one, unless --chat asks for a conversation. A
// file with a name *.jsonl has an object on each line, {"prompt": TEXT}, {"prompt_ids": [..]} or
// one with messages as `tokenize` takes them; any other has a text on each line. With --chat texts
// are messages, too. Throws Error(bad_input) that names option, file and line.
std::vector<Prompt> prompts_of(GenerateArguments const& arguments, RunState const& state,
                               Recipe const& recipe, PromptMakers const& makers);

bool is_jsonl(std::string const& path);

// Returns an object on one line: the prompt as it was given, and the text, or the ids, that were
// made of it.
std::string jsonl_line(Prompt const& prompt, std::string const& text);
std::string jsonl_line(Prompt const& prompt, std::vector<std::int32_t> const& ids);

}  // namespace spillway
