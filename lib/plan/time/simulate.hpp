// What a Program will cost on a Machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Micro-batches that are all alike are walked a few times, however many there are: in `spans` the
// last of them follow the first ones at once.
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
  PerLane<double> busy_s{};
  PerLane<std::int64_t> bytes{};  // moved per lane and step
};
// A step that runs so many items at most is walked whole.
inline constexpr std::int64_t kWalkedItems = 100'000;
Simulation simulate(Program const& program, Machine const& machine,
                    std::int64_t walked_items = kWalkedItems);

}  // namespace spillway
