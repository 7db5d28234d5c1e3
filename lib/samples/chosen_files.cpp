#include "samples/chosen_files.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace spillway {
namespace {

// Replaces all lines but the first few with one that counts them.
std::vector<std::string> shortened(std::string_view key, std::vector<std::string> lines) {
  constexpr std::size_t most = 3;
  if (lines.size() <= most + 1) return lines;
  auto const more = lines.size() - most;
  lines.resize(most);
  lines.push_back(fmt::format("{}: and so do {} more", key, more));
  return lines;
}

}  // namespace

ChosenFiles without_valid(std::vector<KnownFile> const& train,
                          std::vector<KnownFile> const& valid) {
  ChosenFiles chosen;
  for (std::size_t i = 0; i < train.size(); ++i) {
    if (find(valid, train[i]) == nullptr) {
      chosen.kept.push_back(i);
    } else {
      chosen.said.push_back(
          fmt::format("data.train: {} is data.valid's and is not trained on", train[i].path));
    }
  }
  if (chosen.kept.empty())
    throw Error(Status::bad_input,
                fmt::format("data.train: {} is data.valid's too, and nothing else is left to train "
                            "on; name other files, or data.valid=none",
                            train.front().path));
  chosen.said = shortened("data.train", std::move(chosen.said));
  return chosen;
}

std::vector<std::string> repeated(std::string_view key, std::vector<KnownFile> const& files) {
  std::vector<std::string> lines;
  for (auto const& file : files) {
    auto const* first = find(files, file);
    if (first == &file) continue;
    auto const name = first->path == file.path ? "" : fmt::format(" (as {})", file.path);
    lines.push_back(fmt::format("{}: {} comes twice{}", key, first->path, name));
  }
  return shortened(key, std::move(lines));
}

}  // namespace spillway
