#include "state/run_state.hpp"

#include <fmt/core.h>

#include <sstream>

#include "base/error.hpp"
#include "base/number.hpp"
#include "io/tokens/token_format.hpp"

namespace spillway {
namespace {

std::string const& entry(std::map<std::string, std::string> const& texts, std::string const& name,
                         std::string const& source) {
  auto const found = texts.find(name);
  if (found != texts.end()) return found->second;
  throw Error(Status::damaged, fmt::format("{}: /run has no `{}`", source, name));
}

// Counts in a checkpoint must not be larger than this, so that a sum of a few cannot overflow.
constexpr std::int64_t kMostCounted = std::int64_t{1} << 60;

template <class Integer>
Integer integer(std::map<std::string, std::string> const& texts, std::string const& name,
                std::string const& source, Integer least, Integer most) {
  auto const& text = entry(texts, name, source);
  auto const value = to_number<Integer>(text);
  if (value && *value >= least && *value <= most) return *value;
  throw Error(Status::damaged, fmt::format("{}: /run: `{}` cannot be {}", source, name, text));
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

constexpr auto kBase = "base", kBaseSums = "base_xxh3", kBaseFromRun = "base_from_run";

}  // namespace

std::map<std::string, std::string> to_texts(RunState const& state) {
  std::map<std::string, std::string> texts = {{"step", std::to_string(state.step)},
                                              {"updates", std::to_string(state.updates)},
                                              {"samples", std::to_string(state.samples)},
                                              {"tokens", std::to_string(state.tokens)},
                                              {"seed", std::to_string(state.seed)},
                                              {"vocab", std::to_string(state.vocab)},
                                              {"tokenizer", state.tokenizer},
                                              {"arithmetic", to_json(state.arithmetic)},
                                              {"config", state.config}};
  if (!state.base.path.empty()) {
    texts[kBase] = state.base.path;
    if (!state.base.from_run.empty()) texts[kBaseFromRun] = state.base.from_run;
    for (auto const& [tensor, sum] : state.base.sums) texts[kBaseSums] += tensor + " " + sum + "\n";
  }
  if (!state.data.empty()) texts["data"] = state.data;
  if (!state.tokenizer_checksum.empty()) texts["tokenizer_xxh3"] = state.tokenizer_checksum;
  return texts;
}

BaseReference base_reference(std::map<std::string, std::string> const& texts,
                             std::string const& source) {
  BaseReference base;
  if (!texts.contains(kBase)) return base;
  base.path = texts.at(kBase);
  if (texts.contains(kBaseFromRun)) base.from_run = texts.at(kBaseFromRun);
  std::istringstream lines(entry(texts, kBaseSums, source));
  for (std::string tensor, sum; lines >> tensor >> sum;) base.sums[tensor] = sum;
  if (base.path.empty() || base.sums.empty())
    throw Error(Status::damaged, fmt::format("{}: /run: `{}` names no weights", source, kBaseSums));
  return base;
}

RunState run_state(std::map<std::string, std::string> const& texts, std::string const& source) {
  auto const number = [&](char const* name, std::int64_t least, std::int64_t most) {
    return integer(texts, name, source, least, most);
  };
  auto const step = number("step", 0, kMostCounted);
  return {.step = step,
          .updates = number("updates", 0, step),
          .samples = number("samples", 0, kMostCounted),
          .tokens = number("tokens", 0, kMostCounted),
          .seed = integer<std::uint64_t>(texts, "seed", source, 0, ~std::uint64_t{0}),
          .vocab = number("vocab", 1, kMostVocab),
          .tokenizer = entry(texts, "tokenizer", source),
          .tokenizer_checksum = texts.contains("tokenizer_xxh3") ? texts.at("tokenizer_xxh3") : "",
          .arithmetic = read_arithmetic(texts, source),
          .config = entry(texts, "config", source),
          .base = base_reference(texts, source),
          .data = texts.contains("data") ? texts.at("data") : ""};
}

}  // namespace spillway
