#include "generate/session.hpp"

#include "plan/compile/compile.hpp"
#include "state/restored_start.hpp"

namespace spillway {

// The session has no spill file, since a Program for inference spills nothing.
InferenceSession::InferenceSession(Config const& config, std::vector<Graph> graphs,
                                   Resumption const& start, BatchSource& batches,
                                   Compute const& compute, Comm& comm)
    : m_graphs(std::move(graphs)),
      m_programs(compile_inference(m_graphs, comm.size(), !compute.device.has_own_memory())),
      m_memory(config, compute.device, m_programs.front()) {
  for (Program const& program : m_programs)
    m_engines.emplace_back(EngineParts{program,
                                       m_memory.tiers(),
                                       compute.kernels,
                                       comm,
                                       batches,
                                       {},
                                       nullptr,
                                       1,
                                       compute.make_watch});
  ModelState model(m_programs.front(), m_memory.tiers(), comm.rank());
  restore_weights(start, model, comm);
}

}  // namespace spillway
