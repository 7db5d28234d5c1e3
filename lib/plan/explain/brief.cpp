#include "plan/explain/brief.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/wrapped.hpp"
#include "plan/explain/verdict.hpp"

namespace spillway {

namespace {

std::ptrdiff_t line_count(std::string const& text) {
  return std::ranges::count(text, '\n');
}

// Returns the sections one after another, but none for which the lines before it leave no room.
std::string within(std::ptrdiff_t lines, std::vector<std::string> const& sections) {
  std::string text;
  for (auto const& section : sections) {
    if (line_count(section) > lines) continue;
    lines -= line_count(section);
    text += section;
  }
  return text;
}

}  // namespace

std::string brief(Graph const& graph, Plan const& plan, Program const& program,
                  Simulation const& simulation, std::vector<LaneShare> const& path,
                  Machine const& machine, Budgets const& budgets, StepBound const& bound) {
  constexpr std::ptrdiff_t most_drawn = 8;
  auto drawn = brief_picture(graph, plan);
  bool const is_high = line_count(drawn.layers) > most_drawn;
  bool const writes = simulation.bytes[Lane::nvme_write] > 0;
  return within(
      kBriefLines,
      {wrapped_line(verdict(graph, plan, program, simulation, path, budgets), ""),
       bound_line(simulation.step_s, bound), tiers_table(program, budgets, machine.is_unified()),
       writes ? drive_lines(program, simulation, machine) : "",
       std::move(is_high ? drawn.activations : drawn.layers), std::move(drawn.alike),
       std::move(drawn.letters)});
}

}  // namespace spillway
