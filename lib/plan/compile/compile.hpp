// Makes proved Programs from a Graph and a Plan, by schedule, layout, derive_waits and verify.
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
// Does schedule and layout only: every peak is known then, and nothing can run yet. Throws
// std::invalid_argument for a Plan that cannot be scheduled.
Compiled compile_without_waits(Graph const& train, Graph const* eval, Plan const& plan,
                               std::int64_t micro_batches, std::int64_t ranks);
// Needs Programs that have their waits. Throws std::logic_error for a Violation, which would be a
// mistake of ours.
void prove(Compiled const& compiled);
// Does everything, up to the proof.
Compiled compile(Graph const& train, Graph const* eval, Plan const& plan,
                 std::int64_t micro_batches, std::int64_t ranks);

// Makes the Program of an inference graph (Purpose::eval or generate) alone.
Program compile_inference(Graph const& graph, std::int64_t ranks);

}  // namespace spillway
