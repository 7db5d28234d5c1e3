// Trains a small graph in this process, on all ranks of a Comm, and returns what came of it.
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

// Returns the training graph with the sizes of its workspaces, so that Engines can run it.
Graph runnable(Graph graph);
// Returns such a graph of a tiny GPT.
Graph tiny_run_graph(Config const& config, std::int64_t ranks = 1);

struct TinyRun {
  Graph const& graph;
  Plan const& plan;
  Comm& comm;
  std::int64_t micro_batches = 1;
  bool clip = true;
  int steps = 3;
  // Makes the spill file of `bytes`. If it is empty, the file has the default settings.
  std::function<SpillFile(std::int64_t bytes)> spill = {};
  bool registers = false;  // registers the memory that the drive uses, if the system allows it
  bool learns = true;      // expects that the loss falls in these steps
  int host_threads = 1;
  bool poison = true;
  bool used_before = false;  // the device's memory is not zero at first
  // Makes the OrderWatch. If null, the DeviceUnderTest does, whose watch checks the Program's
  // order.
  MakeWatch make_watch = nullptr;
  // This is called after each step that counts, once the Engine has finished it.
  std::function<void(Engine const&)> after_step = {};
};

// A Story consists of bits of a run's results: runs with equal stories have computed the same.
using Story = std::vector<std::uint64_t>;

// Returns for each step the bits of the loss sum and of the gradient norm, then checksums of all
// masters and moments. Expects that storage does not fail, that peaks are as planned and, if
// `learns`, that the loss falls.
Story train(TinyRun const& run);

// Says how a run ended whose storage may fail. The run reacts to that as the program does. `steps`
// tells of the steps that counted; `state` is that of the end, and is empty if it is lost or cannot
// be read.
struct TinyEnding {
  Story steps, state;
  std::string error;  // the failure of storage that ended the run; empty if all steps are done
  int repeats = 0;    // how many times a step was run again
};
Program tiny_program(TinyRun const& run);
TinyEnding train(TinyRun const& run, Program const& program);

}  // namespace spillway::test
