#include "train/run_state.hpp"

#include <fmt/core.h>

#include <charconv>

#include "base/error.hpp"

namespace spillway {
namespace {

std::string const& entry(std::map<std::string, std::string> const& texts, std::string const& name,
                         std::string const& source) {
  auto const found = texts.find(name);
  if (found != texts.end()) return found->second;
  throw Error(Status::damaged, fmt::format("{}: /run has no `{}`", source, name));
}

template <class Integer>
Integer integer(std::map<std::string, std::string> const& texts, std::string const& name,
                std::string const& source) {
  auto const& text = entry(texts, name, source);
  Integer value{};
  auto const end = text.data() + text.size();
  auto const parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc{} && parsed.ptr == end) return value;
  throw Error(Status::damaged, fmt::format("{}: /run: `{}` is no number: {}", source, name, text));
}

Arithmetic read_arithmetic(std::map<std::string, std::string> const& texts,
                           std::string const& source) {
  auto const& text = entry(texts, "arithmetic", source);
  try {
    return arithmetic_from_json(text);
  } catch (Error const& error) {
    throw Error(Status::damaged, fmt::format("{}: /run: {}", source, error.what()));
  }
}

}  // namespace

std::map<std::string, std::string> to_texts(RunState const& state) {
  return {{"step", std::to_string(state.step)},
          {"updates", std::to_string(state.updates)},
          {"samples", std::to_string(state.samples)},
          {"tokens", std::to_string(state.tokens)},
          {"seed", std::to_string(state.seed)},
          {"vocab", std::to_string(state.vocab)},
          {"tokenizer", state.tokenizer},
          {"arithmetic", to_json(state.arithmetic)},
          {"config", state.config}};
}

RunState run_state(std::map<std::string, std::string> const& texts, std::string const& source) {
  return {.step = integer<std::int64_t>(texts, "step", source),
          .updates = integer<std::int64_t>(texts, "updates", source),
          .samples = integer<std::int64_t>(texts, "samples", source),
          .tokens = integer<std::int64_t>(texts, "tokens", source),
          .seed = integer<std::uint64_t>(texts, "seed", source),
          .vocab = integer<std::int64_t>(texts, "vocab", source),
          .tokenizer = entry(texts, "tokenizer", source),
          .arithmetic = read_arithmetic(texts, source),
          .config = entry(texts, "config", source)};
}

}  // namespace spillway
