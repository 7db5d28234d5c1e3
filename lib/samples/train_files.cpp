#include "samples/train_files.hpp"

#include <fmt/core.h>

#include <algorithm>
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

void append(std::vector<std::string> const& lines, std::vector<std::string>& to) {
  to.insert(to.end(), lines.begin(), lines.end());
}

// Appends those of `files` to `to` that are none of `valid`, and returns how many they are.
std::int64_t take(std::vector<TokenFile> files, std::vector<KnownFile> const& valid,
                  TrainFiles& to) {
  auto const chosen = without_valid(known_files(files), valid);
  for (auto const i : chosen.kept) to.files.push_back(std::move(files[i]));
  append(chosen.said, to.said);
  return std::ssize(chosen.kept);
}

}  // namespace

std::vector<TokenFile> open_files(char const* key, std::vector<std::string> const& patterns) {
  if (patterns.empty())
    throw Error(Status::bad_input, fmt::format("{}: no token file is named", key));
  return open_matching(key, patterns);
}

TrainFiles open_train(DataConfig const& data) {
  TrainFiles opened;
  opened.mix = mixed_sources(data);
  auto all = open_files("data.train", data.train);
  append(repeated("data.train", known_files(all)), opened.said);
  std::vector<KnownFile> valid;
  if (!data.valid.empty()) valid = known_files(open_files("data.valid", data.valid));
  if (opened.mix.empty()) {
    take(std::move(all), valid, opened);
  } else {
    for (auto& source : opened.mix)
      source.files = take(open_files("data.train", {source.name}), valid, opened);
  }
  append(repeated("data.valid", valid), opened.said);
  return opened;
}

}  // namespace spillway
