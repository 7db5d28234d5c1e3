// Holds a model that is ready to run one inference Program, to evaluate a checkpoint or to sample.
#pragma once

#include "config/config.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "plan/data/program.hpp"
#include "runtime/engine.hpp"
#include "state/model_state.hpp"
#include "train/run_memory.hpp"

namespace spillway {

class InferenceSession {
 public:
  // Compiles `graph` alone, reserves its memory and loads the weights. Throws Error.
  InferenceSession(Config const& config, Graph graph, CheckpointReader& checkpoint,
                   BatchSource& batches, Compute const& compute, Comm& comm);

  Engine& engine() { return m_engine; }
  Graph const& graph() const { return m_graph; }

 private:
  Graph m_graph;
  Program m_program;
  RunMemory m_memory;
  Engine m_engine;
};

}  // namespace spillway
