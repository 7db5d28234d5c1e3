#include "plan/explain/picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/math.hpp"
#include "base/units.hpp"
#include "plan/data/words.hpp"
#include "plan/schedule/fates.hpp"
#include "plan/schedule/fates.hpp"

namespace spillway {

namespace {

constexpr std::size_t kMostColumns = 64;

char letter(Plan const& plan, int block) {
  return row(plan.blocks[block].policy).letter;
}

char letter(Tier tier) {
  return "DHN"[index(tier)];
}

struct Line {
  std::string_view title;
  std::string letters;  // one a layer
};

std::vector<int> layers(Graph const& graph) {
  std::vector<int> result;
  for (std::size_t block = 0; block < graph.blocks.size(); ++block) {
    if (graph.blocks[block].layer) result.push_back(static_cast<int>(block));
  }
  return result;
}

// Per block: '.' without a chunk, '*' where several lie in different places.
std::string letters_of_blocks(Graph const& graph, Plan const& plan, Tier ChunkPlan::*place) {
  std::string result(graph.blocks.size(), '.');
  for (Chunk const& chunk : graph.chunks) {
    char const one = letter(plan.chunks[chunk.id].*place);
    char& letter = result[chunk.block];
    letter = letter == '.' || letter == one ? one : '*';
  }
  return result;
}

std::vector<Line> lines(Graph const& graph, Plan const& plan) {
  std::vector<Line> result = {{"activations", ""}};
  for (int const layer : layers(graph)) result[0].letters += letter(plan, layer);
  for (PlaceRow const& row : kPlaceTable) {
    result.push_back({row.title, ""});
    auto const letters = letters_of_blocks(graph, plan, row.place);
    for (int const layer : layers(graph)) result.back().letters += letters[layer];
  }
  return result;
}

// "0         10        20": the number of every tenth layer above its column.
std::string ruler(std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t at = first; at < last; at += 10) text += fmt::format("{:<10}", at);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string grid(std::vector<Line> const& lines) {
  auto const count = lines[0].letters.size();
  auto const rows = std::max<std::size_t>(1, div_ceil(count, kMostColumns));
  auto const columns = round_up(std::max<std::size_t>(1, div_ceil(count, rows)), std::size_t{10});
  std::string text;
  for (std::size_t first = 0; first < count; first += columns) {
    text += fmt::format("{:<18} {}\n", first == 0 ? "Layer by layer" : "",
                        ruler(first, std::min(count, first + columns)));
    for (Line const& line : lines)
      text += fmt::format("  {:<16} {}\n", line.title, line.letters.substr(first, columns));
  }
  return text;
}

std::string text_of(FateBytes const& bytes) {
  constexpr std::string_view ends[kFates] = {"stay on the device", "are computed again",
                                             "go to host memory and come back",
                                             "go to NVMe and come back"};
  std::string text;
  for (Fate const fate : {Fate::host, Fate::nvme, Fate::keep, Fate::recompute}) {
    auto const at = static_cast<std::size_t>(fate);
    if (bytes[at] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", human_bytes(bytes[at]), ends[at]);
  }
  return text.empty() ? "nothing" : text;
}

// A line per letter: how many layers, and what happens to their bytes.
std::string activations_legend(Graph const& graph, Plan const& plan) {
  struct Sum {
    int layers = 0;
    FateBytes bytes{};
  };
  std::map<char, Sum> sums;
  auto const bytes = saved_bytes(graph, plan);
  for (int const layer : layers(graph)) {
    auto& sum = sums[letter(plan, layer)];
    ++sum.layers;
    for (std::size_t fate = 0; fate < kFates; ++fate) sum.bytes[fate] += bytes[layer][fate];
  }
  std::string text =
      "Activations: what the forward pass makes and the backward pass needs; bytes of a "
      "micro-batch\n";
  for (auto const& [letter, sum] : sums) {
    text += fmt::format("  {} {} layer{}: {}\n", letter, sum.layers, sum.layers == 1 ? "" : "s",
                        text_of(sum.bytes));
  }
  return text;
}

// "D device memory, N NVMe": of those letters that occur.
std::string legend(std::string const& letters, PerTier<std::string_view> const& names) {
  std::string text;
  for (Tier const tier : kTiersInOrder) {
    if (letters.find(letter(tier)) == std::string::npos) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", letter(tier), names[tier]);
  }
  return text;
}

std::string host_words(bool unified, std::int64_t threads) {
  auto const count = threads == 1 ? "a thread" : fmt::format("{} threads", threads);
  return count + (unified ? " beside them" : " of the host");
}

std::string places_legend(std::vector<Line> const& lines, Plan const& plan,
                          std::int64_t host_threads) {
  std::string places;
  for (std::size_t line = 1; line + 1 < lines.size(); ++line) places += lines[line].letters;
  if (lines.back().letters.empty()) return "";
  std::string updates;  // of what is outside of the layers too
  for (ChunkPlan const& chunk : plan.chunks) updates += letter(chunk.update);
  auto const host = host_words(plan.unified, host_threads);
  bool const late = plan.redo && updates.find(letter(Tier::host)) != std::string::npos;
  return fmt::format(
      "The rest lies in: {}\nUpdated by: {}{}\n",
      legend(places, {words(Tier::device), words(Tier::host), words(Tier::nvme)}),
      legend(updates, {plan.unified ? "the threads that compute" : "the device", host, ""}),
      late ? " (which may go on into the next step)" : "");
}

// Neighbours that are alike on one line.
std::string other_chunks(Graph const& graph, Plan const& plan) {
  std::vector<std::pair<std::string, ChunkPlan>> rows;
  for (Chunk const& chunk : graph.chunks) {
    if (graph.blocks[chunk.block].layer) continue;
    auto const& places = plan.chunks[chunk.id];
    if (rows.empty() || rows.back().second != places) {
      rows.emplace_back(chunk.name, places);
    } else {
      rows.back().first += ", " + chunk.name;
    }
  }
  std::string text;
  for (auto const& [names, places] : rows) {
    text += fmt::format("  {:<16}", names);
    for (PlaceRow const& row : kPlaceTable)
      text += fmt::format(" {} {}{}", row.title, name(places.*row.place),
                          row.place == &ChunkPlan::update ? "\n" : ",");
  }
  return text.empty() ? "" : "Outside of the layers:\n" + text;
}

}  // namespace

std::string picture(Graph const& graph, Plan const& plan, std::int64_t host_threads) {
  auto const rows = lines(graph, plan);
  return grid(rows) + activations_legend(graph, plan) + places_legend(rows, plan, host_threads) +
         other_chunks(graph, plan);
}

}  // namespace spillway
