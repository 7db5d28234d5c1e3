// The passes from a Graph and a Plan to a proved Program. All pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/budgets.hpp"
#include "plan/machine.hpp"
#include "plan/program.hpp"

namespace spillway {

// The order of items, their lanes, buffers and accesses; no offsets and no waits yet.
// Clones for recompute, transfers, collectives, accumulation over micro-batches, updates.
// Throws std::invalid_argument for what is not offered. `plan` matters to training only.
Program schedule(Graph const& graph, Plan const& plan, Purpose purpose, std::int64_t micro_batches,
                 std::int64_t ranks);

// Fills `writers` of every read: the items that last wrote its bytes through the same buffer, in
// any segment and step. `schedule` calls it; a Program made by hand needs it once its items are
// final.
void link(Program& program);

// Lifetimes -> offsets. All programs share one layout of the persistent state and one transient
// region; sets every program's peak_bytes to the common maximum.
void layout(std::span<Program*> programs);

// The waits that the items' accesses need, and no more than clocks do not already give.
void derive_waits(Program& program);

// The proof that the Program computes what its items run one by one would, whatever the timing.
struct Violation {
  ItemNumber earlier = -1, later = -1;  // the offending pair
  std::string why;                      // one line naming both, the buffers and the bytes
};
std::optional<Violation> verify(Program const& program);

// What it will cost. Micro-batches that are all alike are walked a few times, however many there
// are: in `spans` the last of them follow the first ones at once.
struct Simulation {
  struct Span {
    ItemNumber item;
    double start_s, end_s;
    std::int64_t times = 1;  // a step runs the item so often alike; more than once: see `repeat`
  };
  // After what happens in [begin_s, begin_s + period_s) of `spans`, the same is left out so often.
  struct Repeat {
    double begin_s = 0, period_s = 0;
    std::int64_t times = 0;

    double left_out_s() const { return static_cast<double>(times) * period_s; }
  };
  double step_s = 0;
  std::vector<Span> spans;  // one step in steady state
  Repeat repeat;
  std::array<double, kLanes> busy_s{};
  std::array<std::int64_t, kLanes> bytes{};  // moved per lane and step
};
// A step that runs so many items at most is walked whole.
inline constexpr std::int64_t kWalkedItems = 100'000;
Simulation simulate(Program const& program, Machine const& machine,
                    std::int64_t walked_items = kWalkedItems);

// Why it is this way, for a person; the first sentence says whether it fits and what sets the pace.
std::string explain(Graph const& graph, Plan const& plan, Program const& program,
                    Simulation const& simulation, Machine const& machine, Budgets const& budgets);

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

// The Plan as YAML with the keys of the input file's `plan` section: plan.yaml, and `plan.file`.
// Read back by lib/config and `make_plan`.
std::string to_yaml(Plan const& plan, Graph const& graph);

}  // namespace spillway
