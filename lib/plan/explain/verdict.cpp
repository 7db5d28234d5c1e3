#include "plan/explain/verdict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/count.hpp"
#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "plan/data/reach.hpp"
#include "plan/data/words.hpp"
#include "plan/time/drive_use.hpp"

namespace spillway {

namespace {

constexpr std::string_view kDeeper = "    ";  // before what continues an indented line

// Returns a text such as "; activations: 6 of 24 layers spill, 3 recompute (1 does both)", which is
// empty if all layers keep their activations.
std::string what_layers_do(Graph const& graph, Plan const& plan) {
  int layers = 0, away = 0, again = 0, partly = 0, both = 0;
  for (int b = 0; Block const& block : graph.blocks) {
    auto const policy = plan.blocks[b++].policy;
    if (!block.layer) continue;
    ++layers;
    away += away_tier(policy) ? 1 : 0;
    again += row(policy).repeats == Repeats::all ? 1 : 0;
    partly += is_light(policy) ? 1 : 0;
    both += away_tier(policy) && row(policy).repeats != Repeats::nothing ? 1 : 0;
  }
  std::string text;
  for (auto const& [number, verb] : {std::pair(away, "spill"), std::pair(again, "recompute"),
                                     std::pair(partly, "recompute what is cheap")}) {
    if (number == 0) continue;
    text += text.empty()
                ? fmt::format("; activations: {} of {} {}", number, count(layers, "layer"), verb)
                : fmt::format(", {} {}", number, verb);
  }
  if (both > 0) text += fmt::format(" ({} {} both)", both, both == 1 ? "does" : "do");
  return text;
}

// Returns a text such as "; optimizer state in host memory and on NVMe", which is empty if all
// optimizer state is on the device.
std::string where_state_is(Plan const& plan) {
  constexpr std::pair<Tier, std::string_view> places[] = {{Tier::host, "in host memory"},
                                                          {Tier::nvme, "on NVMe"}};
  std::string text;
  for (auto const& [tier, place] : places) {
    if (std::ranges::count(plan.chunks, tier, &ChunkPlan::optimizer) == 0) continue;
    text += fmt::format("{} {}", text.empty() ? "; optimizer state" : " and", place);
  }
  return text;
}

// Returns a text on the lane that delays a step most besides compute, or else on the busiest link.
std::string what_links_do(Simulation const& simulation, std::vector<LaneShare> const& path) {
  if (auto const* const share = delaying_lane(path, simulation.step_s))
    return fmt::format("; {} of a step is {}", percent(share->seconds, simulation.step_s),
                       words(share->lane));
  constexpr Lane links[] = {Lane::nvme_read, Lane::nvme_write, Lane::h2d, Lane::d2h};
  auto const busiest =
      *std::ranges::max_element(links, {}, [&](Lane lane) { return simulation.busy_s[lane]; });
  double const compute_s = simulation.busy_s[Lane::compute];
  double const link_s = simulation.busy_s[busiest];
  if (link_s <= 0.01 * compute_s) return "";  // not worth a word
  return fmt::format("; {} hides behind computing ({:.1f}x)", words(busiest), link_s / compute_s);
}

// Names what most of the gap consists of.
std::string_view most_of(BoundGap const& gap) {
  if (gap.waits_s >= std::max(gap.places_s, gap.activations_s)) return "waits of lanes";
  if (gap.activations_s >= gap.places_s) return "what becomes of activations";
  return "where state lies and who updates it";
}

}  // namespace

LaneShare const* delaying_lane(std::vector<LaneShare> const& path, double step_s) {
  auto const delays = [&](LaneShare const& share) {
    return share.lane != Lane::compute && share.seconds > 0.05 * step_s;
  };
  auto const found = std::ranges::find_if(path, delays);
  return found == path.end() ? nullptr : &*found;
}

std::string verdict(Graph const& graph, Plan const& plan, Program const& program,
                    Simulation const& simulation, std::vector<LaneShare> const& path,
                    Budgets const& budgets) {
  auto const spare = budgets.device_bytes - program.peak_bytes[Tier::device];
  bool const stays = stays_on_device(program);
  return fmt::format("Fits with {} to spare{}{}{}{}.", human_bytes(spare),
                     stays ? "; nothing leaves the device" : "", what_layers_do(graph, plan),
                     where_state_is(plan), what_links_do(simulation, path));
}

std::string what_binds(std::vector<LaneShare> const& path, double step_s) {
  constexpr double small = 0.05;
  std::string text;
  for (LaneShare const& share : path) {
    if (share.seconds < small * step_s) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", words(share.lane),
                        percent(share.seconds, step_s));
  }
  return text.empty() ? text : text + " of a step";
}

std::string bound_line(double step_s, StepBound const& bound) {
  if (bound.step_s <= 0 || step_s <= 0) return "";
  constexpr double small = 0.05;  // nobody asks what a smaller part of a step consists of
  double const gap_s = std::max(0.0, step_s - bound.step_s);
  auto const why = gap_s < small * step_s ? "" : fmt::format("; the gap: {}", most_of(bound.gap));
  auto const line =
      fmt::format("  at least {} by any plan, gap {}: {}{}", human_duration(bound.step_s),
                  percent(gap_s, step_s), bound.limit, why);
  return wrapped_line(line, kDeeper);
}

std::string tiers_table(Program const& program, Budgets const& budgets, bool unified) {
  auto text = fmt::format("  {:<16} {:>9} {:>9} {:>9} {:>13}\n", "for each rank", "budget", "peak",
                          "spare", "all the time");
  for (Tier const tier : kTiersInOrder) {
    auto const peak = program.peak_bytes[tier], limit = budgets.*budget_of(tier);
    if (peak == 0) continue;
    text += fmt::format("  {:<16} {:>9} {:>9} {:>9} {:>13}\n", words(tier), bytes_or_dash(limit),
                        human_bytes(peak), bytes_or_dash(std::max<std::int64_t>(0, limit - peak)),
                        bytes_or_dash(program.persistent_bytes[tier]));
  }
  return text + (unified ? "  (device memory: here a part of main memory)\n" : "");
}

std::string drive_lines(Program const& program, Simulation const& simulation,
                        Machine const& machine) {
  auto const use =
      drive_use(simulation.bytes[Lane::nvme_write], simulation.step_s, program.ranks, machine);
  if (use.step_bytes == 0) return "  NVMe: nothing is written\n";
  bool const several = std::min(program.ranks, machine.node_ranks) > 1;
  auto const written = fmt::format("  NVMe: {} written a step{}", drive_bytes(use.step_bytes),
                                   several ? " by all ranks of a node" : "");
  if (use.lifetime_years == 0) return written + "\n";  // nobody knows how long a step takes
  auto const lasts = fmt::format(
      ", {} a day; drives rated for {} last {} at this rate, or {} ({})",
      drive_bytes(use.day_bytes), drive_bytes(static_cast<double>(machine.nvme_endurance_bytes)),
      drive_life(use.lifetime_years), drive_life(use.used_lifetime_years), wear_words(machine));
  return wrapped_line(written + lasts, kDeeper);
}

std::string verdict_in(std::string const& explanation) {
  constexpr std::string_view end = ".\n";
  auto sentence = explanation.substr(0, explanation.find(end) + 1);
  std::ranges::replace(sentence, '\n', ' ');
  return sentence;
}

}  // namespace spillway
