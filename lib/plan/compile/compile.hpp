// From a Graph and a Plan to proved Programs: schedule, layout, derive_waits, verify.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/data/program.hpp"

namespace spillway {

// A run's Programs.
struct Compiled {
  Program train;
  std::optional<Program> eval;
};
// schedule + layout: every peak is known, nothing can run yet. Throws std::invalid_argument for a
// Plan that is not offered.
Compiled place(Graph const& train, Graph const* eval, Plan const& plan, std::int64_t micro_batches,
               std::int64_t ranks);
// Of Programs that have their waits. Throws std::logic_error for a Violation, which is our mistake.
void prove(Compiled const& compiled);
// place, derive_waits and prove.
Compiled compile(Graph const& train, Graph const* eval, Plan const& plan,
                 std::int64_t micro_batches, std::int64_t ranks);

// The Program of an inference graph (Purpose::eval or generate) alone.
Program compile_inference(Graph const& graph, std::int64_t ranks);

}  // namespace spillway
