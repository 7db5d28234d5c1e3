#include "train/data.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "model/model.hpp"

namespace spillway {
namespace {

void require_vocab(TokenSet const& tokens, char const* key, std::int64_t words,
                   std::int64_t vocab) {
  if (tokens.vocab() <= words) return;
  auto const special = words == vocab
                           ? std::string()
                           : fmt::format(", of which {} are special tokens", vocab - words);
  throw Error(Status::bad_input,
              fmt::format("{}: {}: its vocabulary of {} is larger than model.vocab = {}{}", key,
                          tokens.files().front().path().string(), tokens.vocab(), vocab, special));
}

void require_window(TokenSet const& tokens, char const* key, std::int64_t window) {
  if (tokens.count() > window) return;
  throw Error(Status::bad_input,
              fmt::format("{}: {}: {} tokens do not fill one sequence of {} and its successor", key,
                          tokens.files().front().path().string(), tokens.count(), window));
}

void require_documents(TokenSet const& tokens, char const* key) {
  for (auto const& file : tokens.files()) {
    if (file.has_documents()) continue;
    throw Error(Status::bad_input,
                fmt::format("{}: {}: data.pack: this {} file does not say where documents begin; "
                            "those that `spillway tokenize` writes do",
                            key, file.path().string(), file.layout().kind));
  }
}

TokenSet read_patterns(char const* key, std::vector<std::string> const& patterns) {
  if (patterns.empty())
    throw Error(Status::bad_input, fmt::format("{}: no token file is named", key));
  return {key, patterns};
}

void check_tokens(TokenSet const& tokens, char const* key, std::int64_t vocab,
                  Recipe const& recipe) {
  require_vocab(tokens, key, recipe.words, vocab);
  require_window(tokens, key, recipe.window);
  if (recipe.pack) require_documents(tokens, key);
}

}  // namespace

std::int64_t windows_of(TokenSet const& tokens, Recipe const& recipe) {
  return (tokens.count() - 1) / recipe.window;
}

std::int64_t Data::valid_windows() const {
  return valid ? windows_of(*valid, recipe) : 0;
}

TokenSet open_valid(Config const& config, std::int64_t vocab, Recipe const& recipe) {
  auto tokens = read_patterns("data.valid", config.data.valid);
  check_tokens(tokens, "data.valid", vocab, recipe);
  return tokens;
}

Data open_data(Config const& config) {
  auto train = read_patterns("data.train", config.data.train);
  auto vocab = config.model.vocab;
  auto const objective = objective_of(config);
  if (vocab == 0) vocab = train.vocab() + special_count(config.data, objective);
  require_positions(completed(config, vocab), config.data.sequence);
  auto const recipe = recipe_of(config, objective, vocab, train.files().front().layout().tokenizer);
  check_tokens(train, "data.train", vocab, recipe);
  std::optional<TokenSet> valid;
  if (!config.data.valid.empty()) valid = open_valid(config, vocab, recipe);
  DataOrder const order(train.count(), recipe.window, config.run.seed);
  return {std::move(train), std::move(valid), recipe, order, vocab};
}

}  // namespace spillway
