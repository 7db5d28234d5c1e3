#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "app/commands.hpp"
#include "app/device_backend.hpp"
#include "app/generated.hpp"
#include "app/text_bounds.hpp"
#include "base/standard_streams.hpp"
#include "config/load.hpp"
#include "generate/generator.hpp"
#include "generate/sampling.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/earlier_checkpoints.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "model/model.hpp"
#include "run/compute_here.hpp"
#include "samples/byte_text.hpp"
#include "state/checkpoints.hpp"
#include "state/run_state.hpp"

namespace spillway {
namespace {

struct Prompt {
  PromptForm form;
  std::vector<std::int32_t> tokens;
};

[[noreturn]] void refuse(std::string const& what) {
  throw Error(Status::bad_input, what);
}

std::vector<std::int32_t> ids_of(std::vector<std::int64_t> const& ids, std::int64_t vocab) {
  std::vector<std::int32_t> tokens;
  for (auto const id : ids) {
    if (id < 0 || id >= vocab)
      refuse(fmt::format("--prompt-ids: {} is not in the model's vocabulary of {}", id, vocab));
    tokens.push_back(static_cast<std::int32_t>(id));
  }
  return tokens;
}

Prompt prompt_of(GenerateArguments const& arguments, RunState const& state, Recipe const& recipe) {
  if (!arguments.prompt_ids.empty())
    return {PromptForm::ids, ids_of(arguments.prompt_ids, state.vocab)};
  if (!arguments.prompt) refuse("generate: give --prompt or --prompt-ids");
  if (state.tokenizer != kByteTokenizer)
    refuse(
        fmt::format("--prompt: {} has tokens of '{}', which are not made of text here; give "
                    "--prompt-ids",
                    arguments.checkpoint, state.tokenizer));
  if (arguments.prompt->empty()) refuse("--prompt: is empty; give at least one character");
  return {PromptForm::text, tokens_of(*arguments.prompt, recipe)};
}

// Prints the generated tokens. Without an encoder, the prompt is printed before them, because the
// generated text continues it.
void continue_prompt(GenerateArguments const& arguments, Recipe const& recipe,
                     TextBounds const& bounds, Prompt const& prompt, Generator& generator) {
  bool const decodes = recipe.objective == Objective::spans;
  GeneratedTokens shown(prompt.form, recipe);
  if (!decodes) shown.add(prompt.tokens);
  auto tokens = decodes ? std::vector{bounds.start} : prompt.tokens;
  for (std::int64_t i = 0; i < arguments.tokens; ++i) {
    auto const token =
        sample_token(generator.logits_after(tokens), {arguments.temperature, arguments.seed},
                     static_cast<std::uint64_t>(i));
    shown.add({&token, 1});
    if (std::ranges::count(bounds.ends, token) > 0) break;
    tokens.push_back(token);
  }
  shown.end();
}

void fill_prompt(std::int64_t top, Recipe const& recipe, Prompt const& prompt,
                 Generator& generator) {
  std::int64_t place = 0;
  for (std::int64_t row = 0; row < std::ssize(prompt.tokens); ++row) {
    if (prompt.tokens[static_cast<std::size_t>(row)] != recipe.ids.mask) continue;
    auto const fillings = likeliest(generator.logits_at(row), top);
    print_result(fillings_line(++place, fillings, prompt.form) + "\n");
  }
}

void require_places(Recipe const& recipe, Prompt const& prompt) {
  if (std::ranges::count(prompt.tokens, recipe.ids.mask) > 0) return;
  if (prompt.form == PromptForm::text) refuse("--prompt: has no [MASK] to fill");
  refuse(fmt::format("--prompt-ids: has no place to fill: none is {}, the model's data.mask_id",
                     recipe.ids.mask));
}

// Returns the Config with its threads and device number left to `auto` and without shares of ranks,
// because the checkpoint has those of the machine that trained. The device `cpu` is kept.
Config on_any_machine(Config config) {
  if (config.run.device != "cpu") config.run.device = "auto";
  config.run.threads.reset();
  config.batch.share.clear();
  return config;
}

// Throws unless every override sets the id of a special token. The other keys of the checkpoint's
// Config describe what its weights were made for, so they cannot change.
void require_ids(std::vector<std::string> const& overrides) {
  for (auto const& word : overrides)
    if (!word.starts_with("data.") || !word.substr(0, word.find('=')).ends_with("_id"))
      refuse(word + ": only ids of special tokens (data.*_id) can be given to generate");
}

}  // namespace

Status run_generate(GenerateArguments const& arguments) {
  auto checkpoint = open_checkpoint(arguments.checkpoint);
  auto const place = checkpoint.directory().string();
  warn_of_foreign_files(checkpoint);
  auto const state = run_state(checkpoint.run_strings(), place);
  require_ids(arguments.overrides);
  auto overrides = arguments.overrides;
  if (!arguments.precision.empty()) overrides.push_back("precision=" + arguments.precision);
  // A run with bf16 may have gradients in bf16, which a Config with fp32 must not have. No
  // gradients are computed here, so their type is free.
  if (arguments.precision == word(Precision::fp32)) overrides.emplace_back("optim.gradients=fp32");
  auto const config = parse_config(state.config, place, overrides, elsewhere);
  auto const recipe = recipe_of(config, objective_of(config), state.vocab, state.tokenizer);
  bool const fills = recipe.objective == Objective::masked;
  auto const bounds = text_bounds(checkpoint, config, recipe, arguments.overrides);
  auto const prompt = prompt_of(arguments, state, recipe);
  if (fills) require_places(recipe, prompt);
  if (!fills && arguments.top)
    refuse(fmt::format("--top: is for models that fill places; this one is of the family {}",
                       word(config.model.family)));

  auto const comm = make_single_rank_comm();
  auto const here = on_any_machine(config);
  ComputeHere const compute(here, run_cores(*comm), nullptr, device_backend(here), *comm);
  auto generator = naming_older(place, [&] {
    return std::make_unique<Generator>(config, state.vocab, prompt.tokens, arguments.tokens,
                                       checkpoint, *compute, *comm);
  });
  if (fills) {
    fill_prompt(arguments.top.value_or(kFillings), recipe, prompt, *generator);
  } else {
    continue_prompt(arguments, recipe, bounds, prompt, *generator);
  }
  return Status::done;
}

}  // namespace spillway
