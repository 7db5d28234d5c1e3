#include "plan/schedule/program_writer.hpp"

#include <algorithm>

#include "base/math.hpp"

namespace spillway {

namespace {

Access access(BufferId buffer, ElementRange const& range, DType dtype) {
  return {buffer, range.first * size_bytes(dtype), range.last * size_bytes(dtype), {}};
}

}  // namespace

int ProgramWriter::add_op(Op op) {
  op.id = static_cast<int>(program.ops.size());
  program.ops.push_back(std::move(op));
  return program.ops.back().id;
}

BufferId ProgramWriter::workspace(int op_id, Lane lane) {
  Op const& op = program.ops[op_id];
  if (op.phase == Phase::update && lane == Lane::host) return workspace_of_host_updates();
  auto const [found, is_new] = m_workspaces.try_emplace(op_id, -1);
  if (is_new) {
    auto const elements = div_ceil<std::int64_t>(op.workspace_bytes, size_bytes(DType::f64));
    found->second = add_workspace(op.name + ".workspace", DType::f64, elements, op.block);
  }
  return add_buffer(found->second, workplace(lane));
}

// Updates on the host lane take turns with one workspace, since its bytes are in use until the next
// step reads what they have changed.
BufferId ProgramWriter::workspace_of_host_updates() {
  if (m_of_host_updates >= 0) return m_of_host_updates;
  std::int64_t bytes = 0;
  for (Op const& op : program.ops)
    if (op.phase == Phase::update) bytes = std::max(bytes, op.workspace_bytes);
  auto const elements = div_ceil<std::int64_t>(bytes, size_bytes(DType::f64));
  m_of_host_updates =
      add_buffer(add_workspace("update.workspace", DType::f64, elements), workplace(Lane::host));
  return m_of_host_updates;
}

ItemNumber ProgramWriter::run(int op_id, Lane lane) {
  Op const& op = program.ops[op_id];
  auto& operands = m_operands;
  operands.clear();
  for (View const& view : op.inputs)
    operands.push_back(is_present(view) ? resident(view.tensor) : kAbsent);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    auto const tensor = op.outputs[i].tensor;
    bool const there = is_in_place(op, i);
    operands.push_back(tensor < 0 ? kAbsent : there ? resident(tensor) : resident_or_new(tensor));
  }
  return run_on(op_id, operands, lane);
}

ItemNumber ProgramWriter::run_on(int op_id, std::vector<BufferId> const& operands, Lane lane) {
  Op const& op = program.ops[op_id];
  Item& item = add_item(lane, ItemKind::op, op.block, op.chunk);
  item.op = op_id;
  auto operand = operands.begin();
  auto const touched = [&](View const& view, BufferId buffer) {
    Tensor const& touched = tensor(view.tensor);
    return access(buffer, with_gap(touched, bounding_range(view)), touched.dtype);
  };
  auto const read_view = [&](View const& view, BufferId buffer) {
    auto const bytes = touched(view, buffer);
    read(item, buffer, bytes.first, bytes.last);
  };
  for (View const& view : op.inputs) {
    auto const buffer = *operand++;
    if (is_present(view)) read_view(view, buffer);
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i, ++operand) {
    if (!is_present(op.outputs[i])) continue;
    if (is_in_place(op, i)) read_view(op.outputs[i], *operand);
    item.writes.push_back(touched(op.outputs[i], *operand));
  }
  item.operands = operands;
  if (op.workspace_bytes > 0) {
    item.operands.push_back(workspace(op_id, lane));
    write_all(item, item.operands.back());
  }
  return item.number;
}

ItemNumber ProgramWriter::exchange(ItemKind kind, BufferId from, BufferId to, int chunk,
                                   bool if_committed) {
  Item& item = add_item(Lane::comm, kind, -1, chunk);
  item.operands = {from, to};
  read_all(item, from);
  write_all(item, to);
  if (if_committed) {
    item.operands.push_back(resident(program.known.control));
    read_all(item, item.operands.back());
  }
  return item.number;
}

// Batches have a lane of their own. A file may be slow to read, and messages would wait behind it
// on lane `comm`. On lane `h2d` a batch would wait until the last step's updates are taken back.
ItemNumber ProgramWriter::load_batch() {
  Item& item = add_item(Lane::data, ItemKind::load_batch, -1, -1);
  for (BatchTensor const& field : program.known.batch) {
    item.operands.push_back(resident_or_new(field.tensor));
    write_all(item, item.operands.back());
  }
  return item.number;
}

ItemNumber ProgramWriter::commit(bool knows_norms) {
  WellKnown const& known = program.known;
  Item& item = add_item(Lane::comm, ItemKind::commit, -1, -1);
  item.operands = {resident(known.loss)};
  if (knows_norms) item.operands.push_back(resident(known.norms));
  for (BufferId const operand : item.operands) read_all(item, operand);
  item.operands.push_back(resident_or_new(known.control));
  write_all(item, item.operands.back());
  return item.number;
}

ItemNumber ProgramWriter::report() {
  WellKnown const& known = program.known;
  Item& item = add_item(Lane::comm, ItemKind::report, -1, -1);
  item.operands = {resident(known.loss), resident(known.norms)};
  for (BufferId const operand : item.operands) read_all(item, operand);
  return item.number;
}

}  // namespace spillway
