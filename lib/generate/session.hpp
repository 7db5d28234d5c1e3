// An InferenceSession is a model that can run inference Programs, to evaluate weights or to
// generate text.
#pragma once

#include <deque>
#include <vector>

#include "config/config.hpp"
#include "plan/data/program.hpp"
#include "run/run_memory.hpp"
#include "runtime/engine.hpp"
#include "state/model_state.hpp"
#include "state/resume.hpp"

namespace spillway {

class InferenceSession {
 public:
  // Compiles the graphs, reserves memory that they share and loads the weights. The first graph
  // must read all weights that any graph reads. Throws Error if memory is too small or the weights
  // cannot be read.
  InferenceSession(Config const& config, std::vector<Graph> graphs, Resumption const& start,
                   BatchSource& batches, Compute const& compute, Comm& comm);

  // Returns the Engine of a graph. Only one Engine at a time may have steps that are not finished.
  Engine& engine(std::size_t graph = 0) { return m_engines[graph]; }
  Graph const& graph(std::size_t graph = 0) const { return m_graphs[graph]; }

 private:
  std::vector<Graph> m_graphs;
  std::vector<Program> m_programs;
  RunMemory m_memory;
  std::deque<Engine> m_engines;
};

}  // namespace spillway
