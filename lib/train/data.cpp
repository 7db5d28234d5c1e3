#include "train/data.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace spillway {
namespace {

void require_vocab(TokenSet const& tokens, char const* key, std::int64_t vocab) {
  if (tokens.vocab() <= vocab) return;
  throw Error(Status::bad_input,
              fmt::format("{}: {}: its vocabulary of {} is larger than model.vocab = {}", key,
                          tokens.files().front().path().string(), tokens.vocab(), vocab));
}

void require_window(TokenSet const& tokens, char const* key, std::int64_t sequence) {
  if (tokens.count() > sequence) return;
  throw Error(Status::bad_input,
              fmt::format("{}: {}: {} tokens do not fill one sequence of {} and its successor", key,
                          tokens.files().front().path().string(), tokens.count(), sequence));
}

TokenSet open_tokens(char const* key, std::vector<std::string> const& patterns,
                     Config const& config, std::int64_t vocab) {
  if (patterns.empty())
    throw Error(Status::bad_input, fmt::format("{}: no token file is named", key));
  TokenSet tokens(key, patterns);
  require_vocab(tokens, key, vocab != 0 ? vocab : tokens.vocab());
  require_window(tokens, key, config.data.sequence);
  return tokens;
}

}  // namespace

std::int64_t Data::valid_windows(std::int64_t sequence) const {
  return valid ? (valid->count() - 1) / sequence : 0;
}

TokenSet open_valid(Config const& config, std::int64_t vocab) {
  return open_tokens("data.valid", config.data.valid, config, vocab);
}

Data open_data(Config const& config) {
  auto train = open_tokens("data.train", config.data.train, config, config.model.vocab);
  auto const vocab = config.model.vocab != 0 ? config.model.vocab : train.vocab();
  std::optional<TokenSet> valid;
  if (!config.data.valid.empty()) valid = open_valid(config, vocab);
  DataOrder const order(train.count(), config.data.sequence, config.run.seed);
  return {std::move(train), std::move(valid), order, vocab};
}

}  // namespace spillway
