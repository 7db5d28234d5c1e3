// Trains a small graph in this process, on all ranks of a Comm, and tells what it came to.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "graph/graph.hpp"
#include "io/spill/spill_file.hpp"
#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"
#include "runtime/compute.hpp"

namespace spillway {
class Engine;
}

namespace spillway::test {

// A training graph with workspaces, for Engines with the real kernels.
Graph runnable(Graph graph);
Graph tiny_run_graph(Config const& config, std::int64_t ranks = 1);  // a tiny GPT

struct TinyRun {
  Graph const& graph;
  Plan const& plan;
  Comm& comm;
  std::int64_t micro_batches = 1;
  bool clip = true;
  int steps = 3;
  // Makes the spill file of `bytes`; empty: one with the default settings.
  std::function<SpillFile(std::int64_t bytes)> spill = {};
  bool registers = false;  // what the drive uses is registered, if the system lets us
  bool learns = true;      // in these steps its loss falls, which is expected
  int host_threads = 1;
  bool poison = true;
  bool used_before = false;        // the device's memory is not zero at first
  MakeWatch make_watch = nullptr;  // null: the device's, which expects the Program's order
  // Called after each step that counts, when the Engine has finished it.
  std::function<void(Engine const&)> after_step = {};
};

// Bits: equal stories, equal runs.
using Story = std::vector<std::uint64_t>;

// Per step the bits of the loss sum and of the gradient norm, then checksums of all masters and
// moments. Expects that storage is sound, peaks are as planned and, where it should be, something
// is learned.
Story train(TinyRun const& run);

// What failing storage made of a run, which goes on and ends as the program's own do.
struct TinyEnding {
  Story steps,
      state;          // of the steps that counted; after them, empty where it is lost or unreadable
  std::string error;  // of the storage, that ended it; empty: all steps are done
  int again = 0;      // so often a step was done again
};
Program tiny_program(TinyRun const& run);
TinyEnding train(TinyRun const& run, Program const& program);

}  // namespace spillway::test
