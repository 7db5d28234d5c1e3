// Trains a small graph in this process, which is one rank of a Comm, and returns the results.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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

// Returns the graph with its number of threads and the sizes of its workspaces, so that an Engine
// can run it.
Graph runnable(Graph graph);
// Returns the training graph of a tiny GPT, which an Engine can run.
Graph tiny_run_graph(Config const& config, std::int64_t ranks = 1);

struct TinyRun {
  Graph const& graph;
  Plan const& plan;
  Comm& comm;
  std::int64_t micro_batches = 1;  // of this rank
  bool clip = true;
  int steps = 3;
  // Makes a spill file of this many bytes. If no function is given, the file has the default
  // settings.
  std::function<SpillFile(std::int64_t bytes)> spill = {};
  bool registers = false;  // registers the memory that the drive uses, if possible
  bool learns = true;      // whether train() expects that the loss falls
  int host_threads = 1;
  bool poison = true;
  bool used_before = false;  // the device's memory is not zero at first
  // Makes the OrderWatch of the Engine. If it is null, the run uses DeviceUnderTest::make_watch().
  MakeWatch make_watch = nullptr;
  // The number of this rank's first micro-batch among those of all ranks, if they do not have
  // equally many.
  std::optional<std::int64_t> first_micro_batch = {};
  // This is called after each step that need not be run again, once the Engine has finished it.
  std::function<void(Engine const&)> after_step = {};
};

// A Story holds the bits of a run's results. Runs with equal stories have computed the same bits.
using Story = std::vector<std::uint64_t>;

// Returns for each step the bits of the loss sum and of the gradient norm, then checksums of all
// masters and moments. Expects that storage does not fail, that peaks are as planned and, if
// `learns`, that the loss falls.
Story train(TinyRun const& run);

// Says how a run ended whose storage may fail; the run reacts to a failure as the program does.
// `steps` has the loss and the norm of each step that need not be run again. `state` has checksums
// of the masters and moments at the end of the run, or is empty if these are lost or cannot be
// read.
struct TinyEnding {
  Story steps, state;
  std::string error;  // the failure of storage that ended the run; empty if all steps are done
  int repeats = 0;    // how many times a step was run again
};
Program tiny_program(TinyRun const& run);
TinyEnding train(TinyRun const& run, Program const& program);

}  // namespace spillway::test
