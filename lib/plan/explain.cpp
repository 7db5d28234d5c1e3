#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.hpp"
#include "plan/fates.hpp"
#include "plan/lifetime.hpp"
#include "plan/passes.hpp"

namespace spillway {

namespace {

std::string human(std::int64_t bytes) {
  return bytes == 0 ? "-" : human_bytes(bytes);
}

std::string totals(Program const& program, Simulation const& simulation) {
  std::string text;
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    if (program.peak_bytes[tier] == 0) continue;
    text +=
        fmt::format("{:<7} peak {:>9}, of it {} for the whole run\n", name(static_cast<Tier>(tier)),
                    human(program.peak_bytes[tier]), human(program.persistent_bytes[tier]));
  }
  return text + fmt::format("step    {} predicted, {} micro-batch(es) on {} rank(s)\n",
                            human_duration(simulation.step_s), program.micro_batches,
                            program.ranks);
}

// One line for neighbours that are alike.
struct Row {
  std::string first, last, cells;
  int count = 1;
};

void append(std::vector<Row>& rows, std::string const& name, std::string const& cells) {
  if (!rows.empty() && rows.back().cells == cells) {
    rows.back().last = name;
    ++rows.back().count;
  } else {
    rows.push_back({name, name, cells});
  }
}

std::string text_of(std::vector<Row> const& rows) {
  std::string text;
  for (Row const& row : rows) {
    auto const names =
        row.count == 1 ? row.first : fmt::format("{} to {} ({})", row.first, row.last, row.count);
    text += fmt::format("  {:<24} {}\n", names, row.cells);
  }
  return text;
}

// Saved activations belong to the block whose backward pass reads them first.
std::string blocks_table(Graph const& graph, Plan const& plan) {
  auto const fates = decide_fates(graph, plan);
  std::vector<std::array<std::int64_t, kFates>> bytes(graph.blocks.size());
  for (Tensor const& tensor : graph.tensors) {
    if (!fates.saved(tensor.id)) continue;
    int const block = fates.readers[static_cast<std::size_t>(tensor.id)].back();
    auto& of_block = bytes[static_cast<std::size_t>(block)];
    auto const away = fates.away_bytes[static_cast<std::size_t>(tensor.id)];
    auto const fate = fates.leaves(tensor.id) ? Fate::keep : fates.of(tensor.id);
    of_block[static_cast<std::size_t>(fate)] += tensor.bytes() - away;
    of_block[static_cast<std::size_t>(fates.of(tensor.id))] += away;
  }
  std::vector<Row> rows;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    auto const of = [&](Fate fate) { return human(bytes[b][static_cast<std::size_t>(fate)]); };
    auto const policy = effective_policy(graph, plan, static_cast<int>(b));
    append(rows, graph.blocks[b].name,
           fmt::format("{:<10} {:>9} {:>11} {:>9} {:>9}", name(policy), of(Fate::keep),
                       of(Fate::recompute), of(Fate::host), of(Fate::nvme)));
  }
  return fmt::format("blocks (each, per micro-batch)  {:<5} {:>9} {:>11} {:>9} {:>9}\n", "", "kept",
                     "recomputed", "to host", "to nvme") +
         text_of(rows);
}

std::string chunks_table(Graph const& graph, Plan const& plan) {
  std::vector<Row> rows;
  for (std::size_t c = 0; c < graph.chunks.size(); ++c) {
    auto const& places = plan.chunks[c];
    append(rows, graph.chunks[c].name,
           fmt::format("{:<11} {:<10} {:<10} {}", name(places.parameters), name(places.gradients),
                       name(places.optimizer), name(places.update)));
  }
  return fmt::format("chunks                     {:<11} {:<10} {:<10} {}\n", "parameters",
                     "gradients", "optimizer", "updated on") +
         text_of(rows);
}

// The moment with the most bytes alive, and what they are.
std::string peak_text(Program const& program) {
  auto const alive = lifetimes(program);
  auto const live = live_bytes(program, alive, Tier::device);
  if (live.empty()) return "";
  auto const top = std::max_element(live.begin(), live.end());
  auto const when = static_cast<ItemNumber>(top - live.begin());
  std::vector<Buffer const*> buffers;
  for (Buffer const& buffer : program.buffers) {
    bool const now = std::ranges::any_of(alive[static_cast<std::size_t>(buffer.id)],
                                         [&](Stay const& stay) { return stay.covers(when); });
    if (now && buffer.tier == Tier::device && !buffer.persistent) buffers.push_back(&buffer);
  }
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](auto const* a, auto const* b) { return a->bytes > b->bytes; });
  std::string text = fmt::format("device peak at {}, {} alive beside the run's state:\n",
                                 describe(program, when), buffers.size());
  constexpr std::size_t most = 6;
  for (std::size_t i = 0; i < std::min(most, buffers.size()); ++i) {
    text += fmt::format("  {:>9} {}\n", human(buffers[i]->bytes), buffers[i]->name);
  }
  return text;
}

std::string lanes_text(Simulation const& simulation) {
  std::string text = "lanes, per step\n";
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (simulation.bytes[lane] == 0) continue;
    text += fmt::format("  {:<11} {:>9} written, busy {} of {}\n", name(static_cast<Lane>(lane)),
                        human(simulation.bytes[lane]), human_duration(simulation.busy_s[lane]),
                        human_duration(simulation.step_s));
  }
  return text;
}

// "6 of 24 layers spill, 3 make activations again": empty where all are kept.
std::string what_layers_do(Graph const& graph, Plan const& plan) {
  int layers = 0, away = 0, again = 0;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    if (!graph.blocks[b].layer) continue;
    auto const policy = effective_policy(graph, plan, static_cast<int>(b));
    ++layers;
    away += away_tier(policy) ? 1 : 0;
    again += policy == BlockPolicy::recompute ? 1 : 0;
  }
  std::string text;
  if (away > 0) text += fmt::format("; {} of {} layers spill", away, layers);
  if (again > 0) text += fmt::format("; {} of {} make activations again", again, layers);
  return text;
}

// The busiest lane that moves bytes, beside compute.
std::string what_links_do(Simulation const& simulation) {
  constexpr std::pair<Lane, std::string_view> links[] = {{Lane::nvme_read, "reading the disk"},
                                                         {Lane::nvme_write, "writing the disk"},
                                                         {Lane::h2d, "the way to the device"},
                                                         {Lane::d2h, "the way to the host"}};
  auto const busy_s = [&](Lane lane) { return simulation.busy_s[index(lane)]; };
  auto const busiest = *std::ranges::max_element(links, {}, [&](auto const& link) {
    return simulation.bytes[index(link.first)] > 0 ? busy_s(link.first) : 0;
  });
  double const compute_s = busy_s(Lane::compute), link_s = busy_s(busiest.first);
  if (link_s <= 0.01 * compute_s) return "";  // batches and the like
  bool const hides = simulation.step_s < 1.05 * compute_s;
  return fmt::format("; {} {} compute ({:.1f}x)", busiest.second,
                     hides ? "hides behind" : "takes its time beside", link_s / compute_s);
}

std::string verdict(Graph const& graph, Plan const& plan, Program const& program,
                    Simulation const& simulation, Budgets const& budgets) {
  auto const spare = budgets.device_bytes - program.peak_bytes[index(Tier::device)];
  auto const moved = program.peak_bytes[index(Tier::nvme)] + program.peak_bytes[index(Tier::host)];
  return fmt::format("Fits with {} to spare{}{}{}.\n", human_bytes(spare),
                     moved == 0 ? "; nothing leaves the device" : "", what_layers_do(graph, plan),
                     what_links_do(simulation));
}

// When updates run; empty where nothing is gained.
std::string updates_text(Plan const& plan) {
  if (plan.redo) return "";
  return "updates begin beside the last backward pass: there a failed transfer ends the run\n";
}

}  // namespace

std::string explain(Graph const& graph, Plan const& plan, Program const& program,
                    Simulation const& simulation, Budgets const& budgets) {
  return verdict(graph, plan, program, simulation, budgets) + totals(program, simulation) +
         blocks_table(graph, plan) + chunks_table(graph, plan) + updates_text(plan) +
         peak_text(program) + lanes_text(simulation);
}

}  // namespace spillway
