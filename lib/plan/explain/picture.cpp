#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "base/math.hpp"
#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "plan/explain/brief.hpp"
#include "plan/explain/explain.hpp"
#include "plan/schedule/fates.hpp"

namespace spillway {

namespace {

constexpr std::size_t kMostColumns = 60;  // a line with its title fits a page

char letter(Tier tier) {
  return "DHN"[index(tier)];
}

constexpr EnumArray<Shard, char, kShards.size()> kShardLetters = {'-', 'o', 'g', 'a'};
constexpr std::string_view kSharedOut = "shared out";

bool shares_out(Plan const& plan) {
  return std::ranges::any_of(plan.chunks,
                             [](ChunkPlan const& chunk) { return chunk.shard != Shard::none; });
}

struct Line {
  std::string_view title;
  std::string letters;  // The line has a letter for each layer.
};

// Returns the letters of layers from a text that has a letter for each block.
std::string of_layers(Graph const& graph, std::string_view blocks) {
  std::string letters;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (graph.blocks[b].layer) letters += blocks[b];
  return letters;
}

// Returns whether the row of the table says something of the chunk: of one that is frozen, only
// where its parameters are.
bool concerns(PlaceRow const& row, Chunk const& chunk) {
  return chunk.trainable || row.place == kPlaceTable[0].place;
}

// Returns a letter for each block: '.' if no chunk of it counts, '*' if they have several letters.
template <class LetterOf, class Counts>
std::string letters_of_blocks(Graph const& graph, Plan const& plan, LetterOf letter_of,
                              Counts counts) {
  std::string result(graph.blocks.size(), '.');
  for (Chunk const& chunk : graph.chunks) {
    if (!counts(chunk)) continue;
    char const one = letter_of(plan.chunks[chunk.id]);
    char& letter = result[chunk.block];
    letter = letter == '.' || letter == one ? one : '*';
  }
  return result;
}

std::vector<Line> lines(Graph const& graph, Plan const& plan) {
  std::string policies;
  for (BlockPlan const& block : plan.blocks) policies += row(block.policy).letter;
  std::vector<Line> result = {{"activations", of_layers(graph, policies)}};
  for (PlaceRow const& row : kPlaceTable) {
    auto const place = [&](ChunkPlan const& chunk) { return letter(chunk.*row.place); };
    auto const counts = [&](Chunk const& chunk) { return concerns(row, chunk); };
    result.push_back({row.title, of_layers(graph, letters_of_blocks(graph, plan, place, counts))});
  }
  return result;
}

Line shares_line(Graph const& graph, Plan const& plan) {
  auto const share = [](ChunkPlan const& chunk) { return kShardLetters[chunk.shard]; };
  auto const counts = [](Chunk const& chunk) { return chunk.trainable; };
  return {kSharedOut, of_layers(graph, letters_of_blocks(graph, plan, share, counts))};
}

// Returns a line with the number of every tenth layer above its column: "0         10        20".
std::string ruler(std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t at = first; at < last; at += 10) text += fmt::format("{:<10}", at);
  return std::string(without_trailing_blanks(text));
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
  constexpr std::pair<Fate, std::string_view> ends[] = {
      {Fate::host, "go to host memory and come back"},
      {Fate::nvme, "go to NVMe and come back"},
      {Fate::keep, "stay on the device"},
      {Fate::recompute, "are computed again"}};
  std::vector<std::string> parts;
  for (auto const& [fate, end] : ends)
    if (bytes[fate] > 0) parts.push_back(fmt::format("{} {}", human_bytes(bytes[fate]), end));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

// Returns a text for each letter: how many layers have it, and what happens to their activations.
std::vector<std::string> letters_of_activations(Graph const& graph, Plan const& plan) {
  struct Sum {
    int layers = 0;
    FateBytes bytes{};
  };
  std::map<char, Sum> sums;
  auto const bytes = saved_bytes(graph, plan);
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    if (!graph.blocks[b].layer) continue;
    auto& sum = sums[row(plan.blocks[b].policy).letter];
    ++sum.layers;
    sum.bytes += bytes[b];
  }
  std::vector<std::string> texts;
  for (auto const& [letter, sum] : sums) {
    texts.push_back(
        fmt::format("  {} {}: {}", letter, count(sum.layers, "layer"), text_of(sum.bytes)));
  }
  return texts;
}

std::string activations_legend(Graph const& graph, Plan const& plan) {
  std::string text =
      "Activations: what the forward pass makes and the backward pass needs; bytes of a "
      "micro-batch";
  text = wrapped_line(text);
  for (auto const& letter : letters_of_activations(graph, plan))
    text += wrapped_line(letter, "    ");
  return text;
}

// Returns a text that explains the letters that occur, such as "D device memory, N NVMe".
std::string legend(std::string const& letters, PerTier<std::string_view> const& names) {
  std::vector<std::string> parts;
  for (Tier const tier : kTiersInOrder)
    if (letters.find(letter(tier)) != letters.npos)
      parts.push_back(fmt::format("{} {}", letter(tier), names[tier]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Returns the titles and letters of lines in which all layers have the same letter, such as
// "parameters D, gradients D".
std::string alike_text(std::vector<Line> const& lines) {
  std::vector<std::string> parts;
  for (Line const& line : lines) parts.push_back(fmt::format("{} {}", line.title, line.letters[0]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool is_alike(Line const& line) {
  return line.letters.find_first_not_of(line.letters[0]) == line.letters.npos;
}

std::string places_legend(std::vector<Line> const& lines, Graph const& graph, Plan const& plan,
                          std::int64_t host_threads) {
  std::string places;
  for (std::size_t line = 1; line + 1 < lines.size(); ++line) places += lines[line].letters;
  if (lines.back().letters.empty()) return "";
  std::string updates;  // These letters stand for all chunks, also for chunks outside of layers.
  for (Chunk const& chunk : graph.chunks)
    if (chunk.trainable) updates += letter(plan.chunks[chunk.id].update);
  auto const threads = host_threads == 1 ? "a thread" : fmt::format("{} threads", host_threads);
  auto const host = threads + (plan.unified ? " beside them" : " of the host");
  bool const late =
      (plan.redo || plan.early < 100) && updates.find(letter(Tier::host)) != std::string::npos;
  auto const by = fmt::format(
      "Updated by: {}{}",
      legend(updates, {plan.unified ? "the threads that compute" : "the device", host, ""}),
      late ? " (which may go on into the next step)" : "");
  return fmt::format("The rest lies in: {}\n{}\n",
                     legend(places, {words(Tier::device), words(Tier::host), words(Tier::nvme)}),
                     wrapped(by));
}

// Returns a text without a newline that explains what ranks share out.
std::string shares_legend(Plan const& plan) {
  constexpr EnumArray<Shard, std::string_view, kShards.size()> words = {
      "nothing", "optimizer state and sums of gradients", "optimizer state and sums of gradients",
      "parameters, too, which are gathered for their uses"};
  std::vector<std::string> parts;
  for (Shard const shard : kShards) {
    if (std::ranges::count(plan.chunks, shard, &ChunkPlan::shard) > 0)
      parts.push_back(fmt::format("{} {}", kShardLetters[shard], words[shard]));
  }
  bool const of_nodes = shard_ranks(plan) == ShardRanks::node;
  return fmt::format("{} share out: {}", of_nodes ? "Ranks of each node" : "Ranks",
                     fmt::join(parts, ", "));
}

// Returns lines that say where the chunks that belong to no layer lie. Successive chunks that lie
// in the same places share a line.
std::string other_chunks(Graph const& graph, Plan const& plan) {
  struct Row {
    std::string names;
    Chunk const* first;
  };
  auto const places_of = [&](Chunk const& chunk) { return plan.chunks[chunk.id]; };
  auto const is_alike = [&](Chunk const& one, Chunk const& other) {
    return one.trainable == other.trainable && places_of(one) == places_of(other);
  };
  std::vector<Row> rows;
  for (Chunk const& chunk : graph.chunks) {
    if (graph.blocks[chunk.block].layer) continue;
    if (rows.empty() || !is_alike(*rows.back().first, chunk)) {
      rows.push_back({chunk.name, &chunk});
    } else {
      rows.back().names += ", " + chunk.name;
    }
  }
  std::string text;
  for (auto const& [names, chunk] : rows) {
    auto const& places = plan.chunks[chunk->id];
    auto line = fmt::format("  {:<16}", names);
    for (PlaceRow const& row : kPlaceTable)
      if (concerns(row, *chunk))
        line += fmt::format("{} {} {}", row.place == kPlaceTable[0].place ? "" : ",", row.title,
                            name(places.*row.place));
    if (places.shard != Shard::none) line += fmt::format(", {} {}", kSharedOut, word(places.shard));
    text += wrapped_line(line, std::string(19, ' '));
  }
  return text.empty() ? "" : "Outside of the layers:\n" + text;
}

}  // namespace

BriefPicture brief_picture(Graph const& graph, Plan const& plan) {
  auto all = lines(graph, plan);
  if (all[0].letters.empty()) return {};
  std::string places;
  for (std::size_t line = 1; line < all.size(); ++line) places += all[line].letters;
  if (shares_out(plan)) all.push_back(shares_line(graph, plan));
  auto const alike = std::stable_partition(all.begin() + 1, all.end(), std::not_fn(is_alike));
  BriefPicture brief;
  brief.activations = grid({all[0]});
  brief.layers = grid(std::vector<Line>(all.begin(), alike));
  if (alike != all.end())
    brief.alike = wrapped_line(
        "  in all layers    " + alike_text(std::vector<Line>(alike, all.end())), "    ");
  for (auto const& letter : letters_of_activations(graph, plan))
    brief.letters += wrapped_line(letter, "    ");
  brief.letters +=
      "  " + legend(places, {words(Tier::device), words(Tier::host), words(Tier::nvme)}) + "\n";
  if (shares_out(plan)) brief.letters += wrapped_line("  " + shares_legend(plan), "    ");
  return brief;
}

std::string picture(Graph const& graph, Plan const& plan, std::int64_t host_threads) {
  auto const rows = lines(graph, plan);
  bool const shares = shares_out(plan);
  auto shown = rows;
  if (shares) shown.push_back(shares_line(graph, plan));
  return grid(shown) + activations_legend(graph, plan) +
         places_legend(rows, graph, plan, host_threads) +
         (shares ? wrapped_line(shares_legend(plan)) : "") + other_chunks(graph, plan);
}

}  // namespace spillway
