#include "plan/schedule/program_writer.hpp"

#include <algorithm>
#include <cassert>

#include "base/math.hpp"

namespace spillway {

namespace {

ElementRange intersection(ElementRange const& a, ElementRange const& b) {
  return {std::max(a.first, b.first), std::min(a.last, b.last)};
}

// The elements of a gradient that mean something: those of parameters, not the gaps between them.
std::vector<ElementRange> parameter_ranges(Chunk const& chunk, ElementRange const& within) {
  std::vector<ElementRange> ranges;
  for (Parameter const& parameter : chunk.parameters) {
    auto const range = intersection(bounding_range(parameter.view), within);
    if (range.first >= range.last) continue;
    if (!ranges.empty() && ranges.back().last == range.first) {
      ranges.back().last = range.last;
    } else {
      ranges.push_back(range);
    }
  }
  return ranges;
}

// Where the tensors of chunks have their homes; all others: on the device.
std::vector<Tier> home_tiers(Graph const& graph, Plan const& plan) {
  std::vector<Tier> tiers(graph.tensors.size(), Tier::device);
  auto const set = [&](TensorId tensor, Tier tier) {
    if (tensor >= 0) tiers[tensor] = tier;
  };
  for (Chunk const& chunk : graph.chunks) {
    if (plan.chunks.empty()) break;
    ChunkPlan const& places = plan.chunks[chunk.id];
    set(chunk.parameter, places.parameters);
    set(chunk.gradient, places.gradients);
    for (State const& state : chunk.states) set(state.tensor, places.optimizer);
  }
  for (GradientPart const& part : graph.parts) {
    if (plan.chunks.empty()) break;
    set(part.tensor, plan.chunks[part.chunk].gradients);
  }
  return tiers;
}

Access access(BufferId buffer, ElementRange const& range, DType dtype) {
  return {buffer, range.first * size_bytes(dtype), range.last * size_bytes(dtype), {}};
}

}  // namespace

ProgramWriter::ProgramWriter(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                             std::int64_t ranks)
    : m_unified(plan.unified),
      m_tiers(home_tiers(graph, plan)),
      m_resident(graph.tensors.size(), -1),
      m_home(graph.tensors.size(), -1) {
  program.purpose = graph.purpose;
  program.micro_batches = micro_batches;
  program.ranks = ranks;
  program.tensors = graph.tensors;
  program.ops = graph.ops;
  program.chunks = graph.chunks;
  program.known = graph.known;
  program.arithmetic = graph.arithmetic;
}

void ProgramWriter::begin_segment(std::string const& name) {
  program.segments.push_back({name, next(), next()});
  for (std::size_t t = 0; t < m_home.size(); ++t) {
    m_resident[t] = m_tiers[t] == Tier::device ? m_home[t] : -1;
  }
}

void ProgramWriter::end_segment() {
  program.segments.back().last = next();
}

bool ProgramWriter::spans_segments(Tensor const& tensor) const {
  return tensor.role == Role::gradient || tensor.role == Role::scalar ||
         tensor.id == program.known.logits;
}

BufferId ProgramWriter::add_buffer(TensorId id, Tier tier, std::int64_t bytes) {
  Tensor const& tensor = program.tensors[id];
  Buffer buffer;
  buffer.id = static_cast<BufferId>(program.buffers.size());
  buffer.name = tensor.name;
  buffer.tensor = id;
  buffer.tier = tier;
  buffer.bytes = bytes > 0 ? bytes : tensor.bytes();
  buffer.versions = tensor.versions;
  program.buffers.push_back(std::move(buffer));
  return program.buffers.back().id;
}

void ProgramWriter::set_resident(TensorId tensor, BufferId buffer) {
  m_resident[tensor] = buffer;
}

BufferId ProgramWriter::home(TensorId id) {
  auto& home = m_home[id];
  if (home >= 0) return home;
  home = add_buffer(id, home_tier(id));
  program.buffers.back().persistent = tensor(id).persistent;
  program.buffers.back().spanning = !tensor(id).persistent;
  return home;
}

BufferId ProgramWriter::resident(TensorId id) {
  auto& resident = m_resident[id];
  if (resident < 0 && tensor(id).persistent && home_tier(id) == Tier::device) resident = home(id);
  assert(resident >= 0);
  return resident;
}

BufferId ProgramWriter::resident_or_new(TensorId id) {
  if (is_resident(id) || tensor(id).persistent) return resident(id);
  bool const first = m_home[id] < 0;
  bool const at_home = spans_segments(tensor(id)) && home_tier(id) == Tier::device && first;
  set_resident(id, at_home ? home(id) : add_buffer(id, Tier::device));
  return resident(id);
}

bool ProgramWriter::reaches(Lane lane, BufferId id) const {
  auto const tier = buffer(id).tier;
  if (tensor(buffer(id).tensor).role == Role::scalar) return true;
  if (lane == Lane::host) return tier == Tier::host || (m_unified && tier == Tier::device);
  return tier == Tier::device;
}

TensorId ProgramWriter::add_tensor(Tensor tensor) {
  tensor.id = static_cast<TensorId>(program.tensors.size());
  program.tensors.push_back(std::move(tensor));
  m_tiers.push_back(Tier::device);
  m_resident.push_back(-1);
  m_home.push_back(-1);
  return program.tensors.back().id;
}

int ProgramWriter::add_op(Op op) {
  op.id = static_cast<int>(program.ops.size());
  program.ops.push_back(std::move(op));
  return program.ops.back().id;
}

Item& ProgramWriter::add_item(Lane lane, ItemKind kind, int block, int chunk) {
  Item item;
  item.number = item.horizon = next();
  item.lane = lane;
  item.kind = kind;
  item.block = block;
  item.chunk = chunk;
  program.items.push_back(std::move(item));
  return program.items.back();
}

void ProgramWriter::read_view(Item& item, View const& view, BufferId buffer) {
  Tensor const& tensor = program.tensors[view.tensor];
  auto ranges = std::vector{bounding_range(view)};
  bool const of_chunk = tensor.role == Role::gradient && tensor.chunk >= 0;
  auto const* chunk = of_chunk ? &program.chunks[tensor.chunk] : nullptr;
  if (chunk != nullptr && chunk->gradient == tensor.id)
    ranges = parameter_ranges(*chunk, ranges.front());
  for (auto const& range : ranges) item.reads.push_back(access(buffer, range, tensor.dtype));
}

void ProgramWriter::write_view(Item& item, View const& view, BufferId buffer) {
  Tensor const& tensor = program.tensors[view.tensor];
  item.writes.push_back(access(buffer, bounding_range(view), tensor.dtype));
}

void ProgramWriter::read_all(Item& item, BufferId buffer) {
  auto const tensor = program.buffers[buffer].tensor;
  read_view(item, whole(program.tensors[tensor]), buffer);
}

void ProgramWriter::write_all(Item& item, BufferId buffer) {
  auto const tensor = program.buffers[buffer].tensor;
  write_view(item, whole(program.tensors[tensor]), buffer);
}

BufferId ProgramWriter::workspace(int op_id, Lane lane) {
  Op const& op = program.ops[op_id];
  auto const [found, is_new] = m_workspaces.try_emplace(op_id, -1);
  if (is_new) {
    Tensor tensor;
    tensor.name = op.name + ".workspace";
    tensor.role = Role::workspace;
    tensor.dtype = DType::f64;
    tensor.shape = {div_ceil<std::int64_t>(op.workspace_bytes, size_bytes(DType::f64))};
    tensor.block = op.block;
    found->second = add_tensor(std::move(tensor));
  }
  return add_buffer(found->second, workplace(lane));
}

ItemNumber ProgramWriter::run(int op_id, Lane lane) {
  Op const& op = program.ops[op_id];
  std::vector<BufferId> operands;
  for (View const& view : op.inputs)
    operands.push_back(is_present(view) ? resident(view.tensor) : kAbsent);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    auto const tensor = op.outputs[i].tensor;
    bool const there = is_in_place(op, i);
    operands.push_back(tensor < 0 ? kAbsent : there ? resident(tensor) : resident_or_new(tensor));
  }
  return run_on(op_id, std::move(operands), lane);
}

ItemNumber ProgramWriter::run_on(int op_id, std::vector<BufferId> operands, Lane lane) {
  Op const& op = program.ops[op_id];
  Item& item = add_item(lane, ItemKind::op, op.block, op.chunk);
  item.op = op_id;
  auto operand = operands.begin();
  for (View const& view : op.inputs) {
    auto const buffer = *operand++;
    if (is_present(view)) read_view(item, view, buffer);
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i, ++operand) {
    if (!is_present(op.outputs[i])) continue;
    if (is_in_place(op, i)) read_view(item, op.outputs[i], *operand);
    write_view(item, op.outputs[i], *operand);
  }
  item.operands = std::move(operands);
  if (op.workspace_bytes > 0) {
    item.operands.push_back(workspace(op_id, lane));
    write_all(item, item.operands.back());
  }
  return item.number;
}

Item& ProgramWriter::add_copy(BufferId from, BufferId to, int block, int chunk) {
  auto const lane = copy_lane(buffer(from).tier, buffer(to).tier);
  Item& item = add_item(lane, ItemKind::copy, block, chunk);
  item.operands = {from, to};
  return item;
}

ItemNumber ProgramWriter::copy(BufferId from, BufferId to, int block) {
  Item& item = add_copy(from, to, block, -1);
  auto const bytes = std::min(buffer(from).bytes, buffer(to).bytes);
  if (bytes < tensor(buffer(from).tensor).bytes()) {
    item.reads.push_back({from, 0, bytes, {}});
    item.writes.push_back({to, 0, bytes, {}});
  } else {
    read_all(item, from);
    write_all(item, to);
  }
  return item.number;
}

ItemNumber ProgramWriter::bring(TensorId id, ElementRange range, BufferId from, BufferId to) {
  Item& item = add_copy(from, to, -1, tensor(id).chunk);
  View const part{id, range.first, {range.last - range.first}, {1}};
  read_view(item, part, from);
  item.writes.push_back(access(to, {0, part.shape[0]}, tensor(id).dtype));
  return item.number;
}

ItemNumber ProgramWriter::take_back(TensorId id, ElementRange range, BufferId from, BufferId to) {
  Item& item = add_copy(from, to, -1, tensor(id).chunk);
  item.reads.push_back(access(from, {0, range.last - range.first}, tensor(id).dtype));
  item.writes.push_back(access(to, range, tensor(id).dtype));
  auto const control = resident(program.known.control);
  item.operands.push_back(control);
  read_all(item, control);
  return item.number;
}

ItemNumber ProgramWriter::exchange(ItemKind kind, BufferId from, BufferId to, int chunk) {
  Item& item = add_item(Lane::comm, kind, -1, chunk);
  item.operands = {from, to};
  read_all(item, from);
  write_all(item, to);
  return item.number;
}

// Behind the commit of the step before, or its report. Not on the lane to the device: there it
// would wait behind all that updates of the step before, on the host lane, take back.
ItemNumber ProgramWriter::load_batch() {
  Item& item = add_item(Lane::comm, ItemKind::load_batch, -1, -1);
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
