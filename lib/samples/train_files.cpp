#include "samples/train_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "io/tokens/token_set.hpp"
#include "samples/chosen_files.hpp"
#include "samples/mix.hpp"
#include "samples/same_data.hpp"

namespace spillway {
namespace {

// Returns the elements of data.train that are mixed, which are none if there is only one.
std::vector<MixedSource> mixed_sources(DataConfig const& data) {
  std::vector<MixedSource> mix;
  if (data.weights.size() < 2) return mix;
  auto const shares = mix_shares(data.weights);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] < 1)
      throw Error(Status::bad_input,
                  fmt::format("data.train: {}: its weight {} is not one of {} sequences; give it a "
                              "larger one, or leave it out",
                              data.train[i], data.weights[i], kMostMixed));
    mix.push_back({data.train[i], 0, shares[i]});
  }
  return mix;
}

template <class T>
void append(std::vector<T> const& more, std::vector<T>& to) {
  to.insert(to.end(), more.begin(), more.end());
}

std::vector<TokenFile> joined(std::vector<std::vector<TokenFile>> texts) {
  std::vector<TokenFile> all;
  for (auto& files : texts) std::ranges::move(files, std::back_inserter(all));
  return all;
}

// Appends those of `files` to `to` that are none of `valid`, and returns how many they are.
std::int64_t take(std::vector<TokenFile> files, std::vector<KnownFile> const& known,
                  std::vector<KnownFile> const& valid, TrainFiles& to) {
  auto const chosen = without_valid(known, valid);
  for (auto const i : chosen.kept) to.files.push_back(std::move(files[i]));
  append(chosen.said, to.said);
  return std::ssize(chosen.kept);
}

}  // namespace

std::vector<std::vector<TokenFile>> open_each(char const* key,
                                              std::vector<std::string> const& patterns) {
  if (patterns.empty())
    throw Error(Status::bad_input, fmt::format("{}: no token file is named", key));
  std::vector<std::vector<TokenFile>> texts;
  for (auto const& pattern : patterns) texts.push_back(open_matching(key, {&pattern, 1}));
  return texts;
}

TrainFiles open_train(DataConfig const& data) {
  TrainFiles opened;
  opened.mix = mixed_sources(data);
  auto texts = open_each("data.train", data.train);
  bool const is_mixed = !opened.mix.empty();
  if (!is_mixed) {
    auto one = joined(std::move(texts));
    texts.clear();
    texts.push_back(std::move(one));
  }
  std::vector<std::vector<KnownFile>> known;
  std::vector<KnownFile> all, valid;
  for (auto const& files : texts) append(known.emplace_back(known_files(files)), all);
  append(repeated("data.train", all), opened.said);
  if (!data.valid.empty()) valid = known_files(joined(open_each("data.valid", data.valid)));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto const files = take(std::move(texts[i]), known[i], valid, opened);
    if (is_mixed) opened.mix[i].files = files;
  }
  append(repeated("data.valid", valid), opened.said);
  return opened;
}

}  // namespace spillway
