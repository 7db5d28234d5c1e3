#include "train/session.hpp"

#include "io/h5/checkpoint_group.hpp"
#include "plan/compile/compile.hpp"
#include "state/checkpoints.hpp"

namespace spillway {

InferenceSession::InferenceSession(Config const& config, Graph graph, CheckpointReader& checkpoint,
                                   BatchSource& batches, Compute const& compute, Comm& comm)
    : m_graph(std::move(graph)),
      m_program(compile_inference(m_graph, comm.size(), !compute.device.has_own_memory())),
      m_memory(config, compute.device, m_program),  // an inference Program spills nothing
      m_engine({m_program,
                m_memory.tiers(),
                compute.exec,
                compute.kernels,
                comm,
                batches,
                {},
                nullptr,
                1,
                compute.make_watch}) {
  ModelState model(m_program, m_memory.tiers());
  CheckpointGroup weights(checkpoint, "model");
  restore_weights(weights, model, comm);
}

}  // namespace spillway
