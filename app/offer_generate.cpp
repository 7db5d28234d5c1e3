#include <fmt/core.h>

#include <cmath>

#include "app/offers.hpp"
#include "app/shared_options.hpp"
#include "base/number.hpp"

namespace spillway {
namespace {

std::string is_seed(std::string const& text) {
  if (to_number<std::uint64_t>(text)) return "";
  return fmt::format("'{}' is no whole number from 0 to 2^64 - 1", text);
}

std::string is_temperature(std::string const& text) {
  auto const value = to_number<double>(text);
  if (value && std::isfinite(*value) && *value >= 0) return "";
  return fmt::format("'{}' is no number from 0 on", text);
}

std::string is_share(std::string const& text) {
  auto const value = to_number<double>(text);
  if (value && *value > 0 && *value <= 1) return "";
  return fmt::format("'{}' is no number above 0 and up to 1", text);
}

std::string is_stop_text(std::string const& text) {
  return text.empty() ? "an empty text would end every text" : "";
}

// The first word is the checkpoint if no option names it.
void take_checkpoint(GenerateArguments& generate) {
  if (!generate.checkpoint.empty()) return;
  auto& words = generate.overrides;
  if (words.empty() || words.front().find('=') != std::string::npos)
    throw CLI::RequiredError("a checkpoint or a run directory");
  generate.checkpoint = words.front();
  words.erase(words.begin());
}

}  // namespace

void offer_generate(CLI::App& app, Request& request, GenerateArguments& generate) {
  constexpr std::int64_t most_tokens = 1'000'000'000;
  auto* command = app.add_subcommand("generate", "continue a prompt, or fill its gaps");
  command
      ->add_option("--checkpoint", generate.checkpoint,
                   "checkpoint, a run directory: its newest, or a directory of Hugging Face or "
                   "PEFT; or give it without this word")
      ->check(is_path);
  offer_base(*command, generate.base);
  auto* prompt =
      command->add_option("--prompt", generate.prompt, "text, for models whose tokenizer is known");
  auto* ids = offer_numbers(*command, "--prompt-ids", generate.prompt_ids,
                            "instead, token ids such as 464,3290; prints ids, too")
                  ->excludes(prompt);
  command
      ->add_option("--prompts", generate.prompts,
                   "instead, a file with a text on each line or, called *.jsonl, an object such as "
                   "{\"prompt\": \"Once\"}; prints such objects, too")
      ->check(is_path)
      ->excludes(prompt)
      ->excludes(ids);
  auto* chat = command->add_flag("--chat", generate.chat,
                                 "prompts are a user's messages, put as the model's own chat "
                                 "template does; without a prompt a conversation, from stdin");
  chat->excludes(ids);
  command->add_option("--system", generate.system, "the system's message before them")->needs(chat);
  command->add_option("--tokens", generate.tokens, "most tokens to add")
      ->check(CLI::Range(std::int64_t{1}, most_tokens))
      ->capture_default_str();
  command->add_option("--temperature", generate.temperature, "0: the likeliest token")
      ->check(is_temperature)
      ->capture_default_str();
  command->add_option("--top-k", generate.top_k, "draw from so many of the likeliest tokens alone")
      ->check(CLI::Range(std::int64_t{1}, most_tokens));
  command
      ->add_option("--top-p", generate.top_p,
                   "draw from the likeliest tokens alone that have this share of all chances")
      ->check(is_share);
  command
      ->add_option("--stop", generate.stops,
                   "text before which the generated one ends; may be given several times")
      ->allow_extra_args(false)
      ->check(is_stop_text);
  command->add_option("--seed", generate.seed, "of the draws")
      ->check(is_seed)
      ->capture_default_str();
  command
      ->add_option("--top", generate.top,
                   fmt::format("bert: how many fillings of each place [{}]", kFillings))
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--tokenizer", generate.tokenizer,
                   "of a model that carries none: its directory, tokenizer.json or *.model")
      ->check(is_path);
  command->add_option("--precision", generate.precision, "to compute in, over the checkpoint's own")
      ->check(CLI::IsMember({"bf16", "fp32"}));
  command->add_option("words", generate.overrides,
                      "checkpoint or run directory; ids of special tokens, such as "
                      "data.mask_id=103, and model.quantize, over the checkpoint's own");
  command->footer(
      "gpt and llama continue the prompt until a text ends (data.eos_id, and the end tokens of "
      "the directory that the model was imported from). When all of gpt's positions are taken, it "
      "goes on from the last half of them; llama has as many as it needs.\n"
      "t5 reads the prompt, where <extra_id_0>, <extra_id_1> .. stand for what is to be told.\n"
      "bert prints what is likeliest at each [MASK] of the prompt, and how likely.");
  command->callback([&] {
    take_checkpoint(generate);
    request.plain = [&] { return run_generate(generate); };
  });
}

}  // namespace spillway
