#include "samples/data.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "io/tokens/used_tokenizer.hpp"
#include "model/model.hpp"
#include "samples/same_data.hpp"
#include "samples/text_use.hpp"

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

// The other objectives hide tokens wherever they stand.
void require_no_mask(TokenSet const& tokens, char const* key, Recipe const& recipe) {
  if (recipe.objective == Objective::next) return;
  for (auto const& file : tokens.files())
    if (file.has_mask())
      throw Error(
          Status::bad_input,
          fmt::format("{}: {}: says which tokens are learned (/loss_mask), which only models "
                      "that predict the next token go by; make it with `spillway tokenize "
                      "--learn all`",
                      key, file.path().string()));
}

void require_targets(SampledText const& text, char const* key, Recipe const& recipe) {
  if (can_predict(text, recipe)) return;
  if (text.tokens.has_mask())
    throw Error(Status::bad_input,
                fmt::format("{}: {}: no token of any sequence is learned (/loss_mask): nothing is "
                            "left to predict",
                            key, text.tokens.files().front().path().string()));
  throw Error(Status::bad_input,
              fmt::format("{}: {}: data.pack keeps documents apart, and none has two tokens in one "
                          "sequence: nothing is left to predict",
                          key, text.tokens.files().front().path().string()));
}

// If windows had two tokens, a document would often leave a single token, which cannot be used.
void require_cut(Recipe const& recipe) {
  if (!cuts_where_full(recipe) || recipe.window > 2) return;
  throw Error(Status::bad_input,
              "data.sequence: with data.pack and spans a sequence must hold three tokens; give a "
              "larger data.sequence and data.target");
}

SampledText checked_text(TokenSet tokens, char const* key, std::int64_t vocab,
                         Recipe const& recipe) {
  require_vocab(tokens, key, recipe.words, vocab);
  require_no_mask(tokens, key, recipe);
  require_cut(recipe);
  if (!cuts_where_full(recipe)) require_window(tokens, key, recipe.window);
  if (recipe.pack) require_documents(tokens, key);
  TextWindows windows(tokens, recipe);
  SampledText text{std::move(tokens), std::move(windows)};
  require_targets(text, key, recipe);
  return text;
}

TokenSet open_known(std::vector<KnownFile> const& known) {
  std::vector<TokenFile> files;
  for (auto const& file : known) files.emplace_back(file.path);
  return TokenSet::of_files("data.train", std::move(files));
}

// Joins texts that share no window. Each is checked by itself.
SampledText joined_text(std::vector<std::vector<TokenFile>> texts, char const* key,
                        std::int64_t vocab, Recipe const& recipe) {
  std::vector<TokenFile> all;
  std::vector<std::int64_t> ends;
  for (auto& files : texts) {
    auto [tokens, windows] =
        checked_text(TokenSet::of_files(key, std::move(files)), key, vocab, recipe);
    ends.push_back(tokens.count() + (ends.empty() ? 0 : ends.back()));
    std::ranges::move(std::move(tokens).take_files(), std::back_inserter(all));
  }
  auto tokens = TokenSet::of_files(key, std::move(all));
  TextWindows windows(tokens, recipe, std::move(ends));
  return {std::move(tokens), std::move(windows)};
}

// Returns the files of each source.
std::vector<std::vector<TokenFile>> parted(TokenSet tokens, std::vector<MixedSource> const& mix) {
  std::vector<std::vector<TokenFile>> parts;
  auto files = std::move(tokens).take_files();
  auto next = files.begin();
  for (auto const& source : mix) {
    parts.emplace_back(std::move_iterator(next), std::move_iterator(next + source.files));
    next += source.files;
  }
  return parts;
}

std::vector<KnownPart> known_parts(Data const& data) {
  std::vector<KnownPart> parts;
  for (auto const& source : data.mix) {
    auto const windows = data.train.windows.count_of(parts.size());
    parts.push_back({source.files, source.share, cuts_where_full(data.recipe) ? windows : 0});
  }
  return parts;
}

DataNow data_now(Data const& data, std::vector<KnownFile> files, std::uint64_t seed) {
  auto const all = files;
  auto const count = [&data, all](std::vector<KnownFile> const& some) {
    return same_files(some, all) ? data.train.windows.count()
                                 : TextWindows(open_known(some), data.recipe).count();
  };
  return {std::move(files), data.recipe.window, seed, cut_name(data.recipe), count,
          known_parts(data)};
}

DataOrder order_of(SampleOrder const& samples, SampleRange const& range) {
  OrderBegin const begin{range.begin, range.epoch};
  if (!range.mix.empty()) return {samples.parts(range), range.seed, begin};
  return {samples.windows(range), range.seed, begin};
}

// Returns for each file of `range` where it begins in `train`, whose files `last` lists.
std::vector<std::int64_t> starts_in(TokenSet const& train, SampleRange const& last,
                                    SampleRange const& range, std::string const& source) {
  std::vector<std::int64_t> starts;
  for (auto const& file : range.files) {
    auto const* found = find(last.files, file);
    if (found == nullptr)
      throw Error(
          Status::damaged,
          fmt::format("{}: /run: `data` names {} for the epoch under way, but not among the "
                      "files of those behind it",
                      source, file.path));
    starts.push_back(train.start_of(static_cast<std::size_t>(found - last.files.data())));
  }
  return starts;
}

// Throws if the text has another number of windows than the checkpoint says, because then windows
// were cut differently and their numbers mean other text.
void require_windows(SampleOrder const& order, SampleRange const& range, TextWindows const& windows,
                     std::string const& source) {
  if (order.windows(range) == windows.count()) return;
  throw Error(Status::damaged, fmt::format("{}: /run: `data` has {} windows of a text that has {}",
                                           source, order.windows(range), windows.count()));
}

Data::Rest open_rest(Data const& data, std::size_t i, std::string const& source) {
  auto const& ranges = data.samples.ranges;
  auto const& range = ranges[i];
  auto starts = starts_in(data.train.tokens, ranges.back(), range, source);
  auto tokens = open_known(range.files);
  TextWindows windows(tokens, data.recipe);
  require_windows(data.samples, range, windows, source);
  return {{std::move(tokens), std::move(windows)},
          order_of(data.samples, range),
          ranges[i + 1].begin,
          std::move(starts)};
}

// Returns the sample order of a checkpoint. Checkpoints of an early version do not record it, so
// for those it is assumed that the files have not changed since.
SampleOrder order_before(RunState const& state, DataNow now, std::string const& source) {
  if (!state.data.empty()) return sample_order(state.data, source);
  now.seed = state.seed;
  now.cut.clear();
  auto order = begun(now);
  // The version that did not record the order refused texts that do not fill a window.
  order.window = std::clamp<std::int64_t>(order.ranges[0].tokens() - 1, 1, order.window);
  return order;
}

}  // namespace

SampledText open_valid(Config const& config, std::int64_t vocab, Recipe const& recipe) {
  return joined_text(open_each("data.valid", config.data.valid), "data.valid", vocab, recipe);
}

std::vector<SampledText> open_valid_texts(Config const& config, std::int64_t vocab,
                                          Recipe const& recipe) {
  std::vector<SampledText> texts;
  for (auto& files : open_each("data.valid", config.data.valid))
    texts.push_back(checked_text(TokenSet::of_files("data.valid", std::move(files)), "data.valid",
                                 vocab, recipe));
  return texts;
}

std::vector<TextOrder> Data::texts() const {
  std::vector<TextOrder> texts;
  for (auto const& rest : rests) texts.push_back({rest.text, rest.order, rest.end, rest.starts});
  texts.push_back({train, order});
  return texts;
}

std::vector<std::string> go_on(Data& data, Config const& config, RunState const& state,
                               std::string const& source) {
  auto const now = data_now(data, data.samples.ranges.back().files, config.run.seed);
  auto next = continued(order_before(state, now, source), state.samples, now,
                        config.data.changed == ChangedData::anew);
  data.samples = std::move(next.order);
  auto const& ranges = data.samples.ranges;
  for (std::size_t i = 0; i + 1 < ranges.size(); ++i)
    if (ranges[i + 1].begin > state.samples) data.rests.push_back(open_rest(data, i, source));
  require_windows(data.samples, ranges.back(), data.train.windows, source);
  data.order = order_of(data.samples, ranges.back());
  if (state.data.empty())
    next.said.push_back(source +
                        " does not say which data it has seen, as it is of an earlier "
                        "version; data.train is taken for them");
  return std::move(next.said);
}

Data open_data(Config const& config) {
  auto opened = open_train(config.data);
  auto train = TokenSet::of_files("data.train", std::move(opened.files));
  auto vocab = config.model.vocab;
  auto const objective = objective_of(config);
  if (vocab == 0) vocab = train.vocab() + special_count(config.data, objective);
  require_positions(completed(config, vocab), config.data.sequence);
  auto const recipe = recipe_of(config, objective, vocab, train.files().front().layout().tokenizer);
  auto known = known_files(train.files());
  auto text = opened.mix.empty()
                  ? checked_text(std::move(train), "data.train", vocab, recipe)
                  : joined_text(parted(std::move(train), opened.mix), "data.train", vocab, recipe);
  DataOrder const order(text.windows.count(), config.run.seed);
  Data data{.train = std::move(text),
            .valid = {},
            .recipe = recipe,
            .samples = {},
            .order = order,
            .vocab = vocab,
            .said = std::move(opened.said),
            .mix = std::move(opened.mix)};
  data.samples = begun(data_now(data, std::move(known), config.run.seed));
  data.order = order_of(data.samples, data.samples.ranges.back());
  if (config.data.valid.empty()) return data;
  data.valid = open_valid(config, vocab, recipe);
  auto const &trained = data.train.tokens.files().front(),
             &valid = data.valid->tokens.files().front();
  require_same_tokenizer("data.valid: " + valid.path().string(), tokenizer_of(valid.layout()),
                         trained.path().string(), tokenizer_of(trained.layout()));
  return data;
}

}  // namespace spillway
