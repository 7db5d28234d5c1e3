// Appends items to a Program: ops, what ranks exchange and, as a TransferWriter, transfers.
#pragma once

#include <map>
#include <vector>

#include "plan/schedule/transfer_writer.hpp"

namespace spillway {

class ProgramWriter : public TransferWriter {
 public:
  using TransferWriter::TransferWriter;

  // An op with the buffers of this moment as operands; outputs without one get one.
  ItemNumber run(int op, Lane lane = Lane::compute);
  // An op with these buffers for its inputs and outputs.
  ItemNumber run_on(int op, std::vector<BufferId> operands, Lane lane);
  ItemNumber load_batch();
  // All ranks decide whether the step counts: by the loss, and by the norms of gradients if
  // `knows_norms`.
  ItemNumber commit(bool knows_norms);
  // Of norms that were not known by the commit.
  ItemNumber report();
  // One item that reads all of one operand and writes all of the other.
  ItemNumber exchange(ItemKind kind, BufferId from, BufferId to, int chunk);

  int add_op(Op op);

 private:
  BufferId workspace(int op, Lane lane);

  std::map<int, TensorId> m_workspaces;  // per op
};

}  // namespace spillway
