#include "plan/schedule/residence.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/math.hpp"
#include "graph/sharing.hpp"

namespace spillway {

namespace {

// Says whether all micro-batches of a segment use one copy of the tensor, or each has its own.
bool is_shared(Tensor const& tensor) {
  return tensor.persistent || tensor.role == Role::scalar || tensor.role == Role::parameter;
}

}  // namespace

IdVector<Tier> home_tiers(Graph const& graph, Plan const& plan) {
  IdVector<Tier> tiers;
  for (Tensor const& tensor : graph.tensors) tiers.push_back(compute_tier(tensor, plan.unified));
  if (plan.chunks.empty()) return tiers;
  auto const set = [&](TensorId tensor, Tier tier) {
    if (tensor >= 0) tiers[tensor] = tier;
  };
  for (Chunk const& chunk : graph.chunks) {
    ChunkPlan const& places = plan.chunks[chunk.id];
    set(chunk.parameter, places.parameters);
    set(chunk.gradient, places.gradients);
    auto const at_updates = workplace(op_lane(places.update), plan.unified);
    for (State const& state : chunk.states) {
      bool const of_blocks = block_elements(chunk, 1, graph.tensors[state.tensor]) > 1;
      set(state.tensor, of_blocks ? at_updates : places.optimizer);
    }
  }
  for (GradientPart const& part : graph.parts) set(part.tensor, plan.chunks[part.chunk].gradients);
  return tiers;
}

Tier parameter_slice_tier(ChunkPlan const& places) {
  return places.shard == Shard::all ? places.parameters : places.optimizer;
}

Residence::Residence(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                     std::int64_t ranks, Program spare)
    : m_tiers(home_tiers(graph, plan)), m_home(graph.tensors.size(), -1), m_resident(1, m_home) {
  program.purpose = graph.purpose;
  program.micro_batches = micro_batches;
  program.ranks = ranks;
  program.redo = plan.redo;
  program.unified = plan.unified;
  take_over(std::move(spare), graph);
  program.known = graph.known;
  program.arithmetic = graph.arithmetic;
  if (plan.chunks.empty()) return;
  for (Chunk& chunk : program.chunks) {
    auto const& places = plan.chunks[chunk.id];
    if (places.shard == Shard::none || !chunk.trainable) continue;
    chunk.sharers = sharers_of(plan, ranks);
    share_out(chunk, places);
  }
}

// A schedule adds ops and tensors behind those of the graph, and changes of these and of chunks
// only what share_out does.
void Residence::take_over(Program spare, Graph const& graph) {
  if (spare.ops.size() < graph.ops.size() || spare.tensors.size() < graph.tensors.size()) {
    program.tensors = graph.tensors;
    program.ops = graph.ops;
    program.chunks = graph.chunks;
    return;
  }
  program.ops = std::move(spare.ops);
  program.tensors = std::move(spare.tensors);
  program.ops.resize(graph.ops.size());
  program.tensors.resize(graph.tensors.size());
  program.chunks = std::move(spare.chunks);
  for (Chunk const& chunk : graph.chunks) {
    auto& own = program.chunks[chunk.id];
    own.sharers = chunk.sharers;
    own.parameter_slice = chunk.parameter_slice;
    own.gradient_slice = chunk.gradient_slice;
    program.tensors[chunk.parameter].persistent = graph.tensors[chunk.parameter].persistent;
    for (State const& state : chunk.states)
      program.tensors[state.tensor].shape = graph.tensors[state.tensor].shape;
  }
  program.items = std::move(spare.items);
  program.buffers.reserve(spare.buffers.size());
}

Item& Residence::new_item() {
  if (m_items == std::ssize(program.items)) program.items.emplace_back();
  Item& item = program.items[m_items++];
  item.operands.clear();
  item.reads.clear();
  item.writes.clear();
  item.waits.clear();
  item.op = -1;
  return item;
}

void Residence::share_out(Chunk& chunk, ChunkPlan const& places) {
  auto const count = Sharing{program.ranks, chunk.sharers}.kept(chunk.elements, 0).count;
  auto const add = [&](TensorId whole, Tier tier) {
    Tensor slice = tensor(whole);
    slice.name += ".slice";
    slice.shape = {count};
    auto const id = add_tensor(std::move(slice));
    m_tiers[id] = tier;
    return id;
  };
  chunk.parameter_slice = add(chunk.parameter, parameter_slice_tier(places));
  program.tensors[chunk.parameter].persistent = places.shard != Shard::all;
  if (chunk.gradient >= 0) chunk.gradient_slice = add(chunk.gradient, places.gradients);
  for (State const& state : chunk.states) {
    auto& shape = program.tensors[state.tensor].shape;
    shape = {count / (chunk.elements / element_count(shape))};  // by so many elements an element
  }
}

TensorId Residence::own(TensorId id) const {
  int const number = tensor(id).chunk;
  if (number < 0) return id;
  Chunk const& chunk = program.chunks[number];
  if (!chunk.is_shared_out()) return id;
  if (id == chunk.parameter) return chunk.parameter_slice;
  return id == chunk.gradient ? chunk.gradient_slice : id;
}

ElementRange Residence::of_chunk(TensorId id, ElementRange const& range) const {
  auto const& chunk = program.chunks[tensor(id).chunk];
  if (!chunk.parts_of(id).empty()) return {0, element_count(tensor(id).shape)};
  auto const block = block_elements(chunk, program.ranks, tensor(id));
  return {range.first / block, div_ceil(range.last, block)};
}

void Residence::begin_segment(int micro_batches) {
  auto at_home = m_home;
  for (TensorId t = 0; t < std::ssize(m_home); ++t) {
    if (!is_at_home(t)) at_home[t] = -1;
  }
  m_resident.assign(static_cast<std::size_t>(std::max(1, micro_batches)), at_home);
  m_micro_batch = micro_batches > 0 ? 0 : -1;
}

BufferId& Residence::now(TensorId id) {
  bool const own = m_micro_batch > 0 && !is_shared(tensor(id));
  return m_resident[own ? static_cast<std::size_t>(m_micro_batch) : 0][id];
}

BufferId Residence::add_buffer(TensorId id, Tier tier, std::int64_t bytes) {
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

TensorId Residence::add_tensor(Tensor tensor) {
  tensor.id = static_cast<TensorId>(program.tensors.size());
  program.tensors.push_back(std::move(tensor));
  m_tiers.push_back(Tier::device);
  m_home.push_back(-1);
  for (auto& resident : m_resident) resident.push_back(-1);
  return program.tensors.back().id;
}

TensorId Residence::add_workspace(std::string name, DType dtype, std::int64_t elements, int block) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.role = Role::workspace;
  tensor.dtype = dtype;
  tensor.shape = {elements};
  tensor.block = block;
  return add_tensor(std::move(tensor));
}

BufferId Residence::home(TensorId id) {
  if (m_home[id] < 0) {
    m_home[id] = add_buffer(id, home_tier(id));
    program.buffers.back().persistent = tensor(id).persistent;
    program.buffers.back().spanning = !tensor(id).persistent;
  }
  return m_home[id];
}

BufferId Residence::resident(TensorId id) {
  if (now(id) < 0 && tensor(id).persistent && is_at_home(id)) now(id) = home(id);
  if (now(id) < 0)
    throw std::logic_error("tensor '" + tensor(id).name + "' is nowhere that ops reach it");
  return now(id);
}

BufferId Residence::resident_or_new(TensorId id) {
  if (now(id) >= 0 || tensor(id).persistent) return resident(id);
  auto const role = tensor(id).role;
  bool const spans_segments = role == Role::gradient || role == Role::scalar;
  bool const at_home = spans_segments && is_at_home(id) && m_home[id] < 0;
  now(id) = at_home ? home(id) : add_buffer(id, compute_tier(tensor(id), program.unified));
  return now(id);
}

}  // namespace spillway
