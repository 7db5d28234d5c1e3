#include "samples/same_data.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/compact_json.hpp"
#include "comm/on_all_ranks.hpp"
#include "comm/require_same.hpp"

namespace spillway {
namespace {

std::string to_text(std::vector<KnownFile> const& files) {
  nlohmann::json rows = nlohmann::json::array();
  for (auto const& file : files) rows.push_back({file.path, file.tokens, file.fingerprint});
  return compact_json(rows);
}

// Returns the files from a text that to_text has made on another rank.
std::vector<KnownFile> from_text(std::string const& text) {
  std::vector<KnownFile> files;
  for (auto const& row : nlohmann::json::parse(text))
    files.push_back({row.at(0).get<std::string>(), row.at(1).get<std::int64_t>(),
                     row.at(2).get<std::string>()});
  return files;
}

}  // namespace

std::vector<KnownFile> known_files(std::span<TokenFile const> files) {
  std::vector<KnownFile> known;
  for (auto const& file : files)
    known.push_back({file.path().string(), file.count(), file.fingerprint()});
  return known;
}

std::string files_differ(std::string_view key, std::vector<KnownFile> const& here,
                         std::vector<KnownFile> const& there) {
  for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
    auto const &mine = here[i], &first = there[i];
    if (mine.path != first.path)
      return fmt::format("{}: file {} is {}, rank 0's is {}", key, i + 1, mine.path, first.path);
    if (mine.tokens != first.tokens)
      return fmt::format("{}: {} is another file than rank 0's ({} tokens, {} there)", key,
                         mine.path, mine.tokens, first.tokens);
    if (!mine.is_same(first))
      return fmt::format("{}: {} is another file than rank 0's (as many tokens, {}, of other text)",
                         key, mine.path, mine.tokens);
  }
  if (here.size() == there.size()) return {};
  auto const& longer = here.size() > there.size() ? here : there;
  auto const& extra = longer[std::min(here.size(), there.size())];
  return fmt::format("{}: {} files, rank 0 has {}: {} is {}", key, here.size(), there.size(),
                     extra.path, &longer == &here ? "not there" : "missing here");
}

void require_same_files(Comm& comm, std::string_view key, TokenSet const& tokens) {
  if (comm.size() == 1) return;
  std::vector<KnownFile> here;
  on_all_ranks(comm, [&] { here = known_files(tokens.files()); });
  require_same(comm, to_text(here), [&](auto const& first) {
    auto const difference = files_differ(key, here, from_text(first));
    return difference.empty() ? fmt::format("{}: other files than rank 0's", key) : difference;
  });
}

}  // namespace spillway
