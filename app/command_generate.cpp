#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/chat.hpp"
#include "app/commands.hpp"
#include "app/conversation.hpp"
#include "app/device_backend.hpp"
#include "app/generated.hpp"
#include "app/prompts.hpp"
#include "app/record_rules.hpp"
#include "app/text_bounds.hpp"
#include "base/standard_streams.hpp"
#include "config/load.hpp"
#include "generate/generator.hpp"
#include "generate/sampling.hpp"
#include "huggingface/model_files.hpp"
#include "io/tokens/used_tokenizer.hpp"
#include "model/model.hpp"
#include "run/compute_here.hpp"
#include "state/checkpoints.hpp"
#include "state/resume.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace spillway {
namespace {

[[noreturn]] void refuse(std::string const& what) {
  throw Error(Status::bad_input, what);
}

// A GenerateTask is what all prompts of a command have in common.
struct GenerateTask {
  GenerateArguments const& arguments;
  Recipe const& recipe;
  TextBounds const& bounds;
  Tokenizer const* tokenizer;  // null: texts are bytes

  Chat const* chat;  // null: no chat template is known

  bool fills() const { return recipe.objective == Objective::masked; }
  bool decodes() const { return recipe.objective == Objective::spans; }
};

using Print = GeneratedTokens::Print;

// Of messages the answer alone is shown.
bool is_question(GenerateTask const& task, Prompt const& prompt) {
  return task.arguments.chat || !prompt.messages.empty();
}

// A text that became tokens by a tokenizer is shown as it was given.
void show_prompt(GenerateTask const& task, Prompt const& prompt, bool shows, GeneratedTokens& shown,
                 Print const& print) {
  bool const as_given = task.tokenizer != nullptr && prompt.form == PromptForm::text;
  if (shows && as_given) print(prompt.text);
  if (shows && !as_given) shown.add_prompt(prompt.tokens);
  shown.follow(prompt.tokens);
}

// Writes the generated tokens. Without an encoder and with `shows_prompt`, the prompt is written
// before them, because the generated text continues it. Prompt n has the seed behind that of prompt
// n - 1, so that no two of them have the same draws. Returns the tokens that were made.
std::vector<std::int32_t> continue_prompt(GenerateTask const& task, Prompt const& prompt,
                                          std::uint64_t number, bool shows_prompt,
                                          Generator& generator, Print const& print) {
  auto const& arguments = task.arguments;
  GeneratedTokens shown(prompt.form, task.recipe, print, StopTexts(arguments.stops),
                        task.tokenizer);
  if (!task.decodes()) show_prompt(task, prompt, shows_prompt, shown, print);
  Sampling const sampling{arguments.temperature, arguments.seed + number, arguments.top_k,
                          arguments.top_p};
  auto tokens = task.decodes() ? std::vector{task.bounds.start} : prompt.tokens;
  auto const given = std::ssize(tokens);
  for (std::int64_t i = 0; i < arguments.tokens; ++i) {
    auto const token =
        sample_token(generator.logits_after(tokens), sampling, static_cast<std::uint64_t>(i));
    bool const is_end = std::ranges::count(task.bounds.ends, token) > 0;
    if (!is_end || prompt.form == PromptForm::ids) shown.add({&token, 1});
    tokens.push_back(token);
    if (shown.is_stopped() || is_end) break;
  }
  shown.end();
  return {tokens.begin() + given, tokens.end()};
}

void fill_prompt(GenerateTask const& task, Prompt const& prompt, Generator& generator,
                 Print const& print) {
  std::int64_t place = 0;
  for (std::int64_t row = 0; row < std::ssize(prompt.tokens); ++row) {
    if (prompt.tokens[static_cast<std::size_t>(row)] != task.recipe.ids.mask) continue;
    auto const fillings =
        likeliest(generator.logits_at(row), task.arguments.top.value_or(kFillings));
    print(fmt::format("{}{}", place == 0 ? "" : "\n",
                      fillings_line(place + 1, fillings, prompt.form, task.tokenizer)));
    ++place;
  }
}

void require_places(Recipe const& recipe, Prompt const& prompt) {
  if (std::ranges::count(prompt.tokens, recipe.ids.mask) > 0) return;
  if (prompt.form == PromptForm::text) refuse("--prompt: has no [MASK] to fill");
  refuse(fmt::format("--prompt-ids: has no place to fill: none is {}, the model's data.mask_id",
                     recipe.ids.mask));
}

// Throws for options that are not for this kind of model.
void require_options(GenerateTask const& task, ModelConfig const& model,
                     std::vector<Prompt> const& prompts) {
  auto const& arguments = task.arguments;
  if (!task.fills() && arguments.top)
    refuse(fmt::format("--top: is for models that fill places; this one is of the family {}",
                       word(model.family)));
  bool const draws = arguments.top_k > 0 || arguments.top_p < 1 || !arguments.stops.empty();
  if (task.fills() && draws)
    refuse(
        fmt::format("--top-k, --top-p, --stop: are for models that go on with a text; this one "
                    "is of the family {}",
                    word(model.family)));
  bool const has_ids = std::ranges::count(prompts, PromptForm::ids, &Prompt::form) > 0;
  if (has_ids && !arguments.stops.empty())
    refuse("--stop: is a text, and the prompt is ids; data.eos_id=ID ends at a token");
  if (task.fills())
    for (auto const& prompt : prompts) require_places(task.recipe, prompt);
}

// What a model needs to run.
struct ModelParts {
  Config const& config;
  RunState const& state;
  Resumption const& start;
  Compute const& compute;
  Comm& comm;
};

// A KnownChat has what makes prompts of messages, or says why nothing does.
struct KnownChat {
  std::optional<Chat> chat;
  std::string why_not;
};

KnownChat chat_for(GenerateArguments const& arguments, Resumption const& start,
                   Tokenizer const* tokenizer) {
  auto const place = start.checkpoint.string();
  if (tokenizer == nullptr && start.state.tokenizer == kByteTokenizer)
    return {{},
            fmt::format("{} has bytes as tokens, for which there are no chat templates; give "
                        "it texts as it has learnt them",
                        place)};
  if (tokenizer == nullptr)
    return {{},
            fmt::format("{} carries no tokenizer; --tokenizer names a model's directory that "
                        "has one, with a chat template",
                        place)};
  auto const folders = arguments.tokenizer.empty()
                           ? start.model_files()
                           : FileFolders(model_directory_of(arguments.tokenizer));
  auto rules = record_rules(folders, *tokenizer);
  if (rules.chat) return {Chat(std::move(rules), *tokenizer, arguments.system), ""};
  if (!rules.no_chat.empty()) return {{}, rules.no_chat};
  return {{},
          fmt::format("{} has no chat template (chat_template.jinja, or `chat_template` in "
                      "tokenizer_config.json); --tokenizer names a model's directory with one",
                      folders.first().string())};
}

// Generators has one Generator at a time, for one prompt after the other. A model that goes on with
// its prompt takes all of them with the memory of the longest; others have graphs of a prompt's own
// length.
class Generators {
 public:
  Generators(ModelParts parts, GenerateTask const& task, std::vector<Prompt> const& prompts)
      : m_parts(parts),
        m_one_for_all(task.recipe.objective == Objective::next),
        m_more(task.arguments.tokens) {
    for (auto const& prompt : prompts) m_room = std::max(m_room, prompt.tokens.size());
  }

  Generator& of(std::vector<std::int32_t> tokens) {
    if (m_one_for_all && m_generator && tokens.size() <= m_room) {
      m_generator->begin_anew();
      return *m_generator;
    }
    if (m_one_for_all && m_room < tokens.size())  // a conversation has become longer
      m_room = std::max(kRoomOfConversation, 2 * tokens.size());
    if (m_one_for_all) tokens.resize(m_room);
    auto const& [config, state, start, compute, comm] = m_parts;
    m_generator.reset();  // frees its memory for the next
    m_generator = std::make_unique<Generator>(config, state.vocab, std::move(tokens), m_more, start,
                                              compute, comm);
    return *m_generator;
  }

 private:
  static constexpr std::size_t kRoomOfConversation = 1024;

  ModelParts m_parts;
  bool m_one_for_all;
  std::int64_t m_more;
  std::size_t m_room = 0;  // for tokens of a prompt
  std::unique_ptr<Generator> m_generator;
};

// Prints what the model makes of a prompt. As text it may have lines, so an empty one parts it from
// the next.
void answer(GenerateTask const& task, Prompt const& prompt, std::uint64_t number, bool is_last,
            Generator& generator) {
  bool const as_json = is_jsonl(task.arguments.prompts);
  std::string made;
  Print const print = [&](std::string_view text) {
    if (as_json) made += text;
    if (!as_json) print_bytes(text);
  };
  std::vector<std::int32_t> ids;
  if (task.fills()) {
    fill_prompt(task, prompt, generator, print);
  } else {
    ids = continue_prompt(task, prompt, number, !as_json && !is_question(task, prompt), generator,
                          print);
  }
  if (!as_json) {
    print_result(is_last ? "\n" : "\n\n");
  } else if (prompt.form == PromptForm::ids && !task.fills()) {
    print_bytes(jsonl_line(prompt, ids));
  } else {
    print_bytes(jsonl_line(prompt, made));
  }
}

void hold_conversation(GenerateTask const& task, Generators& generators) {
  std::uint64_t number = 0;
  converse(*task.chat, [&](std::vector<std::int32_t> const& tokens) {
    std::string made;
    Print const print = [&](std::string_view text) {
      made += text;
      print_bytes(text);
    };
    continue_prompt(task, {PromptForm::text, tokens}, number++, false, generators.of(tokens),
                    print);
    return made;
  });
}

// Returns the Config with its threads and device number left to `auto` and without shares of ranks,
// because the checkpoint has those of the machine that trained. The device `cpu` is kept.
Config on_any_machine(Config config) {
  if (config.run.device != "cpu") config.run.device = "auto";
  config.run.threads.reset();
  config.batch.share.clear();
  return config;
}

constexpr std::string_view kQuantize = "model.quantize";

// Throws unless every override sets the id of a special token, or how matrices are kept. The other
// keys of the checkpoint's Config describe what its weights were made for, so they cannot change.
void require_open_keys(std::vector<std::string> const& overrides) {
  for (auto const& word : overrides) {
    auto const key = std::string_view(word).substr(0, word.find('='));
    if (key == kQuantize || (key.starts_with("data.") && key.ends_with("_id"))) continue;
    refuse(word +
           ": only ids of special tokens (data.*_id) and model.quantize can be given to "
           "generate");
  }
}

// Returns the keys that are given to the checkpoint's Config.
std::vector<std::string> given_keys(GenerateArguments const& arguments, Resumption const& start) {
  require_open_keys(arguments.overrides);
  auto keys = arguments.overrides;
  auto const model = stored_config(start).model;
  bool const quantizes = std::ranges::any_of(
      keys, [](std::string const& word) { return word.starts_with(kQuantize); });
  // What is quantized is what is frozen. Of a model that was trained whole that may be all of it.
  if (quantizes && model.lora.rank == 0 && model.freeze.empty())
    keys.emplace_back("model.freeze=['*']");
  if (!arguments.precision.empty()) keys.push_back("precision=" + arguments.precision);
  // A run with bf16 may have gradients in bf16, which a Config with fp32 must not have. No
  // gradients are computed here, so their type is free.
  if (arguments.precision == word(Precision::fp32)) keys.emplace_back("optim.gradients=fp32");
  return keys;
}

// Returns the tokenizer that the user gives or that is beside the weights. Returns nullptr if texts
// are bytes, if there is none, or if none is needed, since prompts are ids.
std::unique_ptr<Tokenizer const> tokenizer_for(GenerateArguments const& arguments,
                                               Resumption const& start) {
  auto const& state = start.state;
  if (!arguments.tokenizer.empty()) {
    auto tokenizer = open_tokenizer(arguments.tokenizer);
    auto const& facts = tokenizer->facts();
    require_same_tokenizer(start.checkpoint.string(), {state.tokenizer, state.tokenizer_checksum},
                           "--tokenizer: " + arguments.tokenizer, {facts.name, facts.checksum});
    return tokenizer;
  }
  if (state.tokenizer == kByteTokenizer || !arguments.prompt_ids.empty()) return nullptr;
  auto const found = files_of(start);
  auto const files = carried_tokenizers(found.files);
  if (files.empty()) return nullptr;
  auto const folders = start.model_files();
  return open_tokenizer(folders.file(files.front()->name), folders);
}

}  // namespace

Status run_generate(GenerateArguments const& arguments) {
  auto const start = open_start(arguments.checkpoint, {arguments.base});
  auto const place = start.checkpoint.string();
  require_use_of_base(arguments.base, {&start});
  if (start.reader) warn_of_foreign_files(*start.reader);
  auto const& state = start.state;
  auto const config = parse_config(state.config, place, given_keys(arguments, start), elsewhere);
  auto const recipe = recipe_of(config, objective_of(config), state.vocab, state.tokenizer);
  if (arguments.chat && recipe.objective != Objective::next)
    refuse(fmt::format("--chat: is for models that go on with a text; this one is of the family {}",
                       word(config.model.family)));
  auto const tokenizer = tokenizer_for(arguments, start);
  auto const [chat, why_not] = chat_for(arguments, start, tokenizer.get());
  if (arguments.chat && !chat) refuse("--chat: " + why_not);
  auto const* const asked = chat ? &*chat : nullptr;
  auto const prompts = prompts_of(arguments, state, recipe, {tokenizer.get(), asked, why_not});
  bool const asks = arguments.chat || std::ranges::any_of(prompts, [](Prompt const& prompt) {
                      return !prompt.messages.empty();
                    });
  auto const bounds = text_bounds(start, config, recipe, arguments.overrides,
                                  asks ? chat->ends() : std::vector<std::int32_t>());
  GenerateTask const task{arguments, recipe, bounds, tokenizer.get(), asked};
  require_options(task, config.model, prompts);

  auto const comm = make_single_rank_comm();
  auto const here = on_any_machine(config);
  ComputeHere const compute(here, run_cores(*comm), nullptr, device_backend(here), *comm);
  Generators generators({config, state, start, *compute, *comm}, task, prompts);
  if (prompts.empty()) hold_conversation(task, generators);
  for (std::size_t i = 0; i < prompts.size(); ++i)
    answer(task, prompts[i], i, i + 1 == prompts.size(), generators.of(prompts[i].tokens));
  return Status::done;
}

}  // namespace spillway
