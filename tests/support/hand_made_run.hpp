// HandMadeRun builds, item by item, a Program that an Engine can run. The kernels of
// engine_fakes.hpp run its ops.
#pragma once

#include <vector>

#include "plan/data/program.hpp"
#include "plan/memory/layout.hpp"
#include "plan/proof/derive.hpp"
#include "tests/support/hand_made.hpp"

namespace spillway::test {

class HandMadeRun : public HandMade {
 public:
  // Adds an op and returns its id, by which g_disturb can recognise it.
  int op(Lane lane, std::vector<BufferId> const& reads, std::vector<BufferId> const& writes) {
    auto& item = at(HandMade::item(lane, reads, writes));
    Op op;
    op.id = item.op = static_cast<int>(program.ops.size());
    for (auto const id : reads) op.inputs.push_back(view(id));
    for (auto const id : writes) op.outputs.push_back(view(id));
    item.kind = ItemKind::op;
    item.operands = reads;
    item.operands.insert(item.operands.end(), writes.begin(), writes.end());
    program.ops.push_back(op);
    return op.id;
  }

  void copy(Lane lane, BufferId from, BufferId to) {
    auto& item = at(HandMade::item(lane, {from}, {to}));
    item.kind = ItemKind::copy;
    item.operands = {from, to};
  }
  void write_back(Lane lane, BufferId from, BufferId to, BufferId control) {
    auto& item = at(HandMade::item(lane, {from, control}, {to}));
    item.kind = ItemKind::copy;
    item.operands = {from, to, control};
  }

  void commit(BufferId loss, BufferId norms, BufferId control) {
    auto& item = at(HandMade::item(Lane::comm, {loss, norms}, {control}));
    item.kind = ItemKind::commit;
    item.operands = {loss, norms, control};
    program.known.loss = loss;  // each tensor has the same number as its buffer
    program.known.norms = norms;
    program.known.control = control;
  }

  Buffer& at_buffer(BufferId id) { return program.buffers[static_cast<std::size_t>(id)]; }

  // Completes the Program so that an Engine can run it.
  void complete() {
    link(program);
    Program* programs[] = {&program};
    layout(programs);
    derive_waits(program);
  }

 private:
  Item& at(ItemNumber number) { return program.items[static_cast<std::size_t>(number)]; }
  View view(BufferId id) const {
    auto const& buffer = program.buffers[static_cast<std::size_t>(id)];
    return {buffer.tensor, 0, {buffer.bytes / size_bytes(DType::f64)}, {1}};
  }
};

}  // namespace spillway::test
