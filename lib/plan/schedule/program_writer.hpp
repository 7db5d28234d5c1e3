// It appends items to a Program: ops, exchanges between ranks and, as a TransferWriter, transfers.
#pragma once

#include <map>
#include <vector>

#include "plan/schedule/transfer_writer.hpp"

namespace spillway {

class ProgramWriter : public TransferWriter {
 public:
  using TransferWriter::TransferWriter;

  // Runs an op on the buffers that hold its operands at the moment; outputs without a buffer get
  // one.
  ItemNumber run(int op, Lane lane = Lane::compute);
  // Runs an op on these buffers, which are those of its inputs and outputs in their order.
  ItemNumber run_on(int op, std::vector<BufferId> operands, Lane lane);
  ItemNumber load_batch();
  // All ranks decide together whether the step counts: by the loss and, if `knows_norms`, by the
  // norms of gradients.
  ItemNumber commit(bool knows_norms);
  // Reports the norms that were not known by the commit.
  ItemNumber report();
  // Appends one item that reads all of `from` and writes all of `to`.
  ItemNumber exchange(ItemKind kind, BufferId from, BufferId to, int chunk);

  int add_op(Op op);

 private:
  BufferId workspace(int op, Lane lane);

  std::map<int, TensorId> m_workspaces;  // per op
};

}  // namespace spillway
