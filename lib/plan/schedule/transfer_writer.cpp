#include "plan/schedule/transfer_writer.hpp"

#include <algorithm>

#include "plan/proof/unroll.hpp"

namespace spillway {

namespace {

ByteRange bytes_of(Tensor const& tensor, ElementRange const& range) {
  return {range.first * size_bytes(tensor.dtype), range.last * size_bytes(tensor.dtype)};
}

// Returns which elements within a range of the chunk belong to parameters, and not to gaps.
std::vector<ElementRange> parameter_ranges(Chunk const& chunk, ElementRange const& within) {
  std::vector<ElementRange> ranges;
  for (Parameter const& parameter : chunk.parameters) {
    auto range = bounding_range(parameter.view);
    range = {std::max(range.first, within.first), std::min(range.last, within.last)};
    if (range.first >= range.last) continue;
    if (!ranges.empty() && ranges.back().last == range.first)
      ranges.back().last = range.last;
    else
      ranges.push_back(range);
  }
  return ranges;
}

}  // namespace

TransferWriter::TransferWriter(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                               std::int64_t ranks)
    : Residence(graph, plan, micro_batches, ranks), m_slot_bytes(plan.staging_slot_bytes) {}

void TransferWriter::begin_segment(std::string const& name, int micro_batches) {
  program.segments.push_back({name, next(), next(), micro_batches});
  Residence::begin_segment(micro_batches);
}

Item& TransferWriter::add_item(Lane lane, ItemKind kind, int block, int chunk) {
  Item item;
  item.number = item.horizon = next();
  item.lane = lane;
  item.kind = kind;
  item.block = block;
  item.chunk = chunk;
  item.micro_batch = micro_batch();
  program.items.push_back(std::move(item));
  return program.items.back();
}

void TransferWriter::read(Item& item, BufferId id, std::int64_t first_byte,
                          std::int64_t last_byte) {
  Tensor const& tensor = tensor_of(id);
  bool const has_gaps = tensor.role == Role::gradient && tensor.chunk >= 0 &&
                        program.chunks[tensor.chunk].gradient == tensor.id;
  if (!has_gaps) return item.reads.push_back({id, first_byte, last_byte, {}});
  auto const size = size_bytes(tensor.dtype);
  Chunk const& chunk = program.chunks[tensor.chunk];
  for (auto const& range : parameter_ranges(chunk, {first_byte / size, last_byte / size}))
    item.reads.push_back({id, range.first * size, range.last * size, {}});
}

ItemNumber TransferWriter::copy(BufferId from, BufferId to, int block) {
  auto const bytes = std::min({buffer(from).bytes, buffer(to).bytes, tensor_of(from).bytes()});
  return transfer({from, to, 0, 0, bytes, block});
}

ItemNumber TransferWriter::bring(TensorId id, ElementRange range, BufferId from, BufferId to) {
  auto const& [first, last] = bytes_of(tensor(id), range);
  return transfer({from, to, first, 0, last - first, -1, tensor(id).chunk});
}

ItemNumber TransferWriter::take_back(TensorId id, ElementRange range, BufferId from, BufferId to) {
  auto const& [first, last] = bytes_of(tensor(id), range);
  constexpr bool if_committed = true;
  return transfer({from, to, 0, first, last - first, -1, tensor(id).chunk, if_committed});
}

// Copies bytes directly or, if they are staged, a slot's size at a time: first into a slot in host
// memory, and then from the slot to their destination.
ItemNumber TransferWriter::transfer(Transfer const& what) {
  if (!is_staged(what.from, what.to)) return add_copy(what);
  ItemNumber last = -1;
  for (std::int64_t done = 0; done < what.bytes; done += m_slot_bytes) {
    auto const slot = next_slot(buffer(what.to).tier == Tier::nvme);
    auto in = what, on = what;
    in.to = on.from = slot;
    in.to_byte = on.from_byte = 0;
    in.bytes = on.bytes = std::min(m_slot_bytes, what.bytes - done);
    in.from_byte += done;
    on.to_byte += done;
    in.if_committed = false;
    add_copy(in);
    last = add_copy(on);
  }
  return last;
}

// Returns the slot whose turn it is. The buffer of a slot is made when the slot is first used.
BufferId TransferWriter::next_slot(bool to_drive) {
  auto& staging = to_drive ? m_to_drive : m_from_drive;
  auto const turn = staging.used++ % kStagingSlots;
  if (staging.used <= kStagingSlots) {
    auto const name = (to_drive ? "to_nvme." : "from_nvme.") + std::to_string(turn);
    auto const elements = m_slot_bytes / size_bytes(DType::f64);
    staging.slots[turn] = add_buffer(add_workspace(name, DType::f64, elements), Tier::host);
  }
  return staging.slots[turn];
}

ItemNumber TransferWriter::add_copy(Transfer const& what) {
  auto const lane = copy_lane(buffer(what.from).tier, buffer(what.to).tier);
  Item& item = add_item(lane, ItemKind::copy, what.block, what.chunk);
  item.operands = {what.from, what.to};
  read(item, what.from, what.from_byte, what.from_byte + what.bytes);
  item.writes.push_back({what.to, what.to_byte, what.to_byte + what.bytes, {}});
  if (what.if_committed) {
    item.operands.push_back(resident(program.known.control));
    read_all(item, item.operands.back());
  }
  return item.number;
}

}  // namespace spillway
