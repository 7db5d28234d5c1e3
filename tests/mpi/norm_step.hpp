// A step that has gradients already, written item by item: they are reduced, their norms taken, and
// the commit decides. Each chunk's is held as a plan may hold it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/gradient_slice.hpp"
#include "kernels/host/workspaces.hpp"
#include "kernels/kernel.hpp"
#include "plan/data/program.hpp"
#include "plan/memory/layout.hpp"
#include "plan/proof/derive.hpp"
#include "tests/support/hand_made.hpp"

namespace spillway::test {

enum class Held : std::uint8_t {
  copied,    // whole on every rank, which has not exchanged it in this step
  gathered,  // each rank has summed its slice, and then had all others'
  sharded,   // each rank has its own slice and the norm of that; the norms are exchanged
};

struct NormChunk {
  Held held;
  std::vector<std::int64_t> sizes;  // of its parameters
};

// The Program of one of `ranks` ranks.
class NormStep : public HandMade {
 public:
  NormStep(std::vector<NormChunk> const& chunks, DType dtype, int rank, int ranks)
      : m_dtype(dtype), m_rank(rank) {
    program.ranks = program.arithmetic.ranks = ranks;
    segment("last");
    for (auto const& chunk : chunks) add_chunk(chunk.sizes);
    auto& known = program.known;
    known.loss = add(DType::f64, {2}, true);
    known.norms = add(DType::f64, {std::ssize(chunks), ranks}, true);
    known.control = add(DType::f64, {kControlWords}, true);
    for (auto const& chunk : program.chunks) {
      auto const held = chunks[static_cast<std::size_t>(chunk.id)].held;
      if (held != Held::copied) reduce(chunk, held == Held::gathered);
      take_norms(chunk, held == Held::sharded);
    }
    exchange_norms(chunks);
    segment("update");
    auto& commit = at(item(Lane::comm, {known.loss, known.norms}, {known.control}));
    commit.kind = ItemKind::commit;
    commit.operands = {known.loss, known.norms, known.control};
    link(program);
    Program* programs[] = {&program};
    layout(programs);
    derive_waits(program);
  }

 private:
  // A tensor and its buffer, which have the same number.
  TensorId add(DType dtype, Shape shape, bool persistent) {
    auto const bytes = element_count(shape) * size_bytes(dtype);
    auto const id = buffer(Tier::device, bytes);
    auto& tensor = program.tensors[static_cast<std::size_t>(id)];
    tensor.dtype = dtype;
    tensor.shape = std::move(shape);
    tensor.persistent = program.buffers[static_cast<std::size_t>(id)].persistent = persistent;
    return id;
  }
  Item& at(ItemNumber number) { return program.items[static_cast<std::size_t>(number)]; }
  View whole_of(TensorId id) { return whole(program.tensors[static_cast<std::size_t>(id)]); }

  void add_chunk(std::vector<std::int64_t> const& sizes) {
    Chunk chunk;
    chunk.id = chunk.norm = static_cast<int>(program.chunks.size());
    for (auto const size : sizes) {
      Parameter parameter;
      parameter.view = {-1, chunk.elements, {size}, {1}};
      chunk.parameters.push_back(parameter);
      chunk.elements = round_up(chunk.elements + size, kParameterAlignment);
    }
    chunk.gradient = add(m_dtype, {chunk.elements}, true);
    program.chunks.push_back(std::move(chunk));
  }

  void exchange(ItemKind kind, TensorId from, TensorId to) {
    auto& item = at(HandMade::item(Lane::comm, {from}, {to}));
    item.kind = kind;
    item.operands = {from, to};
  }

  // The bytes of a view; nothing of one without elements.
  void touch(std::vector<Access>& accesses, View const& view) const {
    auto const size = size_bytes(program.tensors[static_cast<std::size_t>(view.tensor)].dtype);
    auto const [first, last] = bounding_range(view);
    if (element_count(view.shape) > 0)
      accesses.push_back({view.tensor, first * size, last * size, {}});
  }

  void run(OpKind kind, Chunk const& chunk, View const& in, View const& out, bool in_place,
           Attributes attributes) {
    Op op;
    op.id = static_cast<int>(program.ops.size());
    op.kind = kind;
    op.chunk = chunk.id;
    op.inputs = {in};
    op.outputs = {out};
    if (in_place) op.in_place = {0};
    op.attributes = std::move(attributes);
    op.workspace_bytes =
        workspace_bytes({program.tensors, program.chunks, program.arithmetic, m_rank}, op);
    std::vector<BufferId> scratch;
    if (op.workspace_bytes > 0)
      scratch = {add(DType::f64, {op.workspace_bytes / size_bytes(DType::f64)}, false)};
    auto& item = at(HandMade::item(Lane::compute, {}, scratch));
    item.kind = ItemKind::op;
    item.op = op.id;
    item.operands = {in.tensor, out.tensor};
    item.operands.insert(item.operands.end(), scratch.begin(), scratch.end());
    touch(item.reads, in);
    if (in_place) touch(item.reads, out);
    touch(item.writes, out);
    program.ops.push_back(std::move(op));
  }

  void reduce(Chunk const& chunk, bool gather) {
    auto const most = gradient_slice(chunk.elements, 0, program.ranks).count;
    auto const received = add(m_dtype, {program.ranks, most}, false);
    exchange(ItemKind::all_to_all, chunk.gradient, received);
    run(OpKind::tree_sum, chunk, whole_of(received), whole_of(chunk.gradient), true, {});
    if (gather) exchange(ItemKind::all_gather, chunk.gradient, chunk.gradient);
  }

  void take_norms(Chunk const& chunk, bool own) {
    auto const row = chunk.norm * program.ranks;
    auto const slice = gradient_slice(chunk.elements, m_rank, program.ranks);
    auto const of =
        own ? View{chunk.gradient, slice.first, {slice.count}, {1}} : whole_of(chunk.gradient);
    auto const norms = own ? View{program.known.norms, row + m_rank, {1}, {1}}
                           : View{program.known.norms, row, {program.ranks}, {1}};
    run(OpKind::square_norm, chunk, of, norms, false, UpdateRange{own ? slice.first : 0});
  }

  void exchange_norms(std::vector<NormChunk> const& chunks) {
    auto const norms = program.known.norms;
    std::vector<Access> own, rows;
    for (auto& chunk : program.chunks) {
      if (chunks[static_cast<std::size_t>(chunk.id)].held != Held::sharded) continue;
      chunk.sharers = program.ranks;
      auto const row = chunk.norm * program.ranks;
      touch(own, {norms, row + m_rank, {1}, {1}});
      touch(rows, {norms, row, {program.ranks}, {1}});
    }
    if (rows.empty()) return;
    auto& item = at(HandMade::item(Lane::comm, {}, {}));
    item.kind = ItemKind::all_gather;
    item.operands = {norms, norms};
    item.reads = std::move(own);
    item.writes = std::move(rows);
  }

  DType m_dtype;
  int m_rank;
};

}  // namespace spillway::test
