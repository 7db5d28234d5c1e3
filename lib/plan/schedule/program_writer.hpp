// A ProgramWriter appends items to a Program: ops, exchanges between ranks and, through
// TransferWriter, transfers.
#pragma once

#include <map>
#include <vector>

#include "plan/schedule/transfer_writer.hpp"

namespace spillway {

class ProgramWriter : public TransferWriter {
 public:
  using TransferWriter::TransferWriter;

  // Runs an op on the buffers that hold its operands now. An output without a buffer gets one.
  ItemNumber run(int op, Lane lane = Lane::compute);
  // Runs an op on the given buffers, which hold its inputs and then its outputs, in order.
  ItemNumber run_on(int op, std::vector<BufferId> operands, Lane lane);
  ItemNumber load_batch();
  // Appends the commit, in which all ranks decide together whether the step counts. The loss
  // decides and, if `knows_norms`, also the norms of gradients.
  ItemNumber commit(bool knows_norms);
  // Reports the norms that were not known at the commit.
  ItemNumber report();
  // Appends one item that reads all of `from` and writes all of `to`.
  ItemNumber exchange(ItemKind kind, BufferId from, BufferId to, int chunk);

  int add_op(Op op);

 private:
  BufferId workspace(int op, Lane lane);

  std::map<int, TensorId> m_workspaces;  // the workspace of each op
};

}  // namespace spillway
