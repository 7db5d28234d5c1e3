// A ProgramWriter appends items to a Program: ops, exchanges between ranks, and transfers.
#pragma once

#include <map>
#include <vector>

#include "plan/schedule/transfer_writer.hpp"

namespace spillway {

class ProgramWriter : public TransferWriter {
 public:
  using TransferWriter::TransferWriter;

  // Appends an op that works on the buffers that hold its operands now. If an output has no buffer
  // yet, a new buffer is made.
  ItemNumber run(int op, Lane lane = Lane::compute);
  // Appends an op that works on `operands`, which are buffers of its inputs and then its outputs.
  ItemNumber run_on(int op, std::vector<BufferId> const& operands, Lane lane);
  ItemNumber load_batch();
  // Appends the commit, with which all ranks decide alike how the step ends. The commit reads the
  // loss and, if `knows_norms` is true, the norms of gradients.
  ItemNumber commit(bool knows_norms);
  // Appends an item that reports the norms of gradients, which the commit did not know.
  ItemNumber report();
  // Appends an exchange between ranks that reads all of `from` and writes all of `to`.
  ItemNumber exchange(ItemKind kind, BufferId from, BufferId to, int chunk,
                      bool if_committed = false);

  int add_op(Op op);

 private:
  BufferId workspace(int op, Lane lane);
  BufferId workspace_of_host_updates();

  std::vector<BufferId> m_operands;      // of the op that is being written
  std::map<int, TensorId> m_workspaces;  // maps each op to its workspace
  BufferId m_of_host_updates = -1;
};

}  // namespace spillway
