// Trains a tiny GPT in this process, on all ranks of a Comm, and tells what it came to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "graph/graph.hpp"
#include "io/spill/spill_file.hpp"
#include "plan/plan.hpp"

namespace spillway::test {

// With backward, update and workspaces, for Engines with the real kernels.
Graph tiny_run_graph(Config const& config);

struct TinyRun {
  Graph const& graph;
  Plan const& plan;
  Comm& comm;
  std::int64_t micro_batches = 1;
  bool clip = true;
  int steps = 3;
  // Makes the spill file of `bytes`; empty: one with the default settings.
  std::function<SpillFile(std::int64_t bytes)> spill = {};
};

// Per step the bits of the loss sum and of the gradient norm, then checksums of all masters and
// moments: equal stories, equal runs. Expects that peaks are as planned and that something is
// learned.
using Story = std::vector<std::uint64_t>;
Story train(TinyRun const& run);

}  // namespace spillway::test
