#include "train/session.hpp"

#include "kernels/kernel.hpp"
#include "plan/compile/compile.hpp"
#include "state/checkpoints.hpp"

namespace spillway {

InferenceSession::InferenceSession(Config const& config, Graph graph, CheckpointReader& checkpoint,
                                   BatchSource& batches, Exec const& exec, Comm& comm)
    : m_graph(std::move(graph)),
      m_program(compile_inference(m_graph, comm.size())),
      m_memory(config, m_program),  // an inference Program spills nothing
      m_engine({m_program, m_memory.tiers(), exec, kernel, comm, batches, {}, nullptr}) {
  ModelState model(m_program, m_memory.tiers());
  restore_model(checkpoint, model, true, comm);
}

}  // namespace spillway
