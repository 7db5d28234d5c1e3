// Makes Programs from a Graph and a Plan by calling schedule, layout and derive_waits, and has
// verify prove that they are correct.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/data/program.hpp"

namespace spillway {

// Holds the Programs of a run.
struct Compiled {
  Program train;
  std::optional<Program> eval;
};
// Only schedules and lays out the Programs: their peaks are then known, but they cannot run yet.
// Throws what `schedule` throws: std::invalid_argument for what is not offered, std::logic_error
// for a Plan that is not normal.
Compiled compile_without_waits(Graph const& train, Graph const* eval, Plan const& plan,
                               std::int64_t micro_batches, std::int64_t ranks);
// Proves Programs that already have their waits. Throws std::logic_error for a Violation, which
// would be a bug of this library.
void prove(Compiled const& compiled);
// Schedules, lays out and proves the Programs, which are then ready to run.
Compiled compile(Graph const& train, Graph const* eval, Plan const& plan,
                 std::int64_t micro_batches, std::int64_t ranks);

// Makes the Program of an inference graph, whose Purpose is eval or generate.
Program compile_inference(Graph const& graph, std::int64_t ranks);

}  // namespace spillway
