#include "plan/schedule/transfer_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/math.hpp"
#include "plan/memory/lifetime.hpp"

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
                               std::int64_t ranks, Program spare)
    : Residence(graph, plan, micro_batches, ranks, std::move(spare)),
      m_piece_bytes(plan.staging_piece_bytes) {}

void TransferWriter::begin_segment(std::string const& name, int micro_batches) {
  program.segments.push_back({name, next(), next(), micro_batches});
  Residence::begin_segment(micro_batches);
}

Item& TransferWriter::add_item(Lane lane, ItemKind kind, int block, int chunk) {
  auto const number = next();
  Item& item = new_item();
  item.number = item.horizon = number;
  item.lane = lane;
  item.kind = kind;
  item.block = block;
  item.chunk = chunk;
  item.micro_batch = micro_batch();
  return item;
}

bool TransferWriter::has_gaps(Tensor const& tensor) const {
  return is_gradient_of_chunk(tensor) && home_tier(tensor.id) != Tier::nvme;
}

bool TransferWriter::is_gradient_of_chunk(Tensor const& tensor) const {
  return tensor.role == Role::gradient && tensor.chunk >= 0 &&
         program.chunks[tensor.chunk].gradient == tensor.id;
}

ElementRange TransferWriter::with_gap(Tensor const& tensor, ElementRange range) const {
  if (!is_gradient_of_chunk(tensor) || has_gaps(tensor)) return range;
  Chunk const& chunk = program.chunks[tensor.chunk];
  auto next = chunk.elements;
  bool ends_parameter = false;
  for (Parameter const& parameter : chunk.parameters) {
    auto const [first, last] = bounding_range(parameter.view);
    ends_parameter |= last == range.last;
    if (first >= range.last) next = std::min(next, first);
  }
  return {range.first, ends_parameter ? next : range.last};
}

void TransferWriter::read(Item& item, BufferId id, std::int64_t first_byte,
                          std::int64_t last_byte) {
  Tensor const& tensor = tensor_of(id);
  if (!has_gaps(tensor)) return item.reads.push_back({id, first_byte, last_byte, {}});
  auto const size = size_bytes(tensor.dtype);
  Chunk const& chunk = program.chunks[tensor.chunk];
  for (auto const& range : parameter_ranges(chunk, {first_byte / size, last_byte / size}))
    item.reads.push_back({id, range.first * size, range.last * size, {}});
}

ItemNumber TransferWriter::copy(BufferId from, BufferId to, int block, bool if_committed) {
  Tensor const& tensor = tensor_of(from);
  auto bytes = std::min({buffer(from).bytes, buffer(to).bytes, tensor.bytes()});
  if (has_gaps(tensor)) {
    auto const all = program.chunks[tensor.chunk].elements;
    bytes = std::min(bytes, bytes_of(tensor, without_last_gap(tensor, {0, all})).last);
  }
  return transfer({from, to, 0, 0, bytes, block, -1, if_committed});
}

ItemNumber TransferWriter::copy_end(BufferId from, BufferId to, int block) {
  auto const from_bytes = buffer(from).bytes, to_bytes = buffer(to).bytes;
  auto const bytes = std::min(from_bytes, to_bytes);
  return transfer({from, to, from_bytes - bytes, to_bytes - bytes, bytes, block, -1});
}

// A gradient is copied up to its last parameter: somebody whom nothing makes wait may write to the
// gap behind it.
ElementRange TransferWriter::without_last_gap(Tensor const& tensor, ElementRange range) const {
  if (!has_gaps(tensor)) return range;
  auto const parameters = parameter_ranges(program.chunks[tensor.chunk], range);
  if (!parameters.empty()) range.last = parameters.back().last;
  return range;
}

ByteRange TransferWriter::bytes_of_chunk(TensorId id, ElementRange const& range) const {
  return bytes_of(tensor(id), of_chunk(id, range));
}

ItemNumber TransferWriter::bring(TensorId id, ElementRange range, BufferId from, BufferId to) {
  auto const& [first, last] = bytes_of_chunk(id, without_last_gap(tensor(id), range));
  return transfer({from, to, first, 0, last - first, -1, tensor(id).chunk});
}

void TransferWriter::read_brought(ItemNumber item, TensorId id, ElementRange range,
                                  BufferId there) {
  auto const& [first, last] = bytes_of_chunk(id, without_last_gap(tensor(id), range));
  for (Access& read : program.items[item].reads) {
    if (read.buffer == there) read.last = std::min(read.last, last - first);
  }
}

ItemNumber TransferWriter::take_back(TensorId id, ElementRange range, BufferId from, BufferId to) {
  auto const& [first, last] = bytes_of_chunk(id, range);
  constexpr bool if_committed = true;
  return transfer({from, to, 0, first, last - first, -1, tensor(id).chunk, if_committed});
}

// Copies bytes directly or, if they are staged, in pieces: each goes first into a ring in host
// memory, and then from the ring to its destination.
ItemNumber TransferWriter::transfer(Copy const& what) {
  if (!is_staged(what.from, what.to)) return add_copy(what);
  bool const to_drive = buffer(what.to).tier == Tier::nvme;
  auto& ring = to_drive ? m_to_drive : m_from_drive;
  ItemNumber last = -1;
  for (std::int64_t done = 0; done < what.bytes; done += m_piece_bytes) {
    auto in = what, on = what;
    in.bytes = on.bytes = std::min(m_piece_bytes, what.bytes - done);
    in.to_byte = on.from_byte = place(ring, to_drive ? "to_nvme" : "from_nvme", in.bytes);
    in.to = on.from = ring.buffer;
    in.from_byte += done;
    on.to_byte += done;
    in.if_committed = false;
    add_copy(in);
    last = add_copy(on);
  }
  return last;
}

std::int64_t TransferWriter::place(Ring& ring, char const* name, std::int64_t bytes) {
  auto const all_bytes = kStagingPieces * m_piece_bytes;
  if (ring.buffer < 0) {
    auto const elements = all_bytes / size_bytes(DType::f64);
    ring.buffer = add_buffer(add_workspace(name, DType::f64, elements), Tier::host);
    program.buffers.back().reserved = true;
  }
  if (ring.next_byte + bytes > all_bytes) ring.next_byte = 0;
  auto const first = ring.next_byte;
  ring.next_byte += round_up(bytes, std::int64_t{kPageBytes});
  return first;
}

ItemNumber TransferWriter::add_copy(Copy const& what) {
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
