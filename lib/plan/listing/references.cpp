#include "plan/listing/references.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace spillway {

namespace {

constexpr std::int64_t kMostRanks = std::int64_t{1} << 24;
constexpr std::size_t kMostOperands = 64, kMostAxes = 8;  // These limits keep traffic below 2^63.

// Returns whether every extent is at least 1 and a tensor of this shape fits into a machine.
bool is_possible(Shape const& shape, DType dtype) {
  std::int64_t bytes = size_bytes(dtype);
  for (auto const extent : shape) {
    if (extent < 1) return false;
    bytes = clamped_product(bytes, extent);
  }
  return bytes <= kMostBytes && shape.size() <= kMostAxes;
}

void check_count(std::int64_t count, std::int64_t most) {
  require(count >= 1 && count <= most, "must be 1 to {}", most);
}

void check_tensor(Program const& program, TensorId id, bool may_be_none) {
  require(is_id(id, program.tensors) || (may_be_none && id == -1),
          "names tensor {}, which does not exist", id);
}

void check(Program const&, IdVector<Segment> const& segments) {
  require(std::ranges::count_if(segments, &Segment::is_middle) <= 1,
          "more than one is called middle");
  for (Segment const& segment : segments) {
    require(segment.first < segment.last, "'{}' has no items", segment.name);
    require(segment.micro_batches >= (segment.is_middle() ? 1 : 0) &&
                segment.micro_batches <= kMostMicroBatches,
            "'{}' runs {} micro-batches at a time", segment.name, segment.micro_batches);
  }
}

void check(Program const& program, WellKnown const& known) {
  for (TensorId const id : {known.logits, known.loss, known.norms, known.control})
    check_tensor(program, id, true);
  for (BatchTensor const& batch : known.batch) check_tensor(program, batch.tensor, false);
}

void check(Program const& program, Tensor const& tensor) {
  require(tensor.id == &tensor - program.tensors.data(), "has another id than its place");
  require(is_possible(tensor.shape, tensor.dtype), "has an impossible shape");
  require(tensor.versions == 1 || tensor.versions == 2, "must have 1 or 2 versions");
}

void check(Program const& program, View const& view) {
  check_tensor(program, view.tensor, false);
  auto const dtype = program.tensors[view.tensor].dtype;
  require(is_possible(view.shape, dtype) && view.strides.size() == view.shape.size(),
          "has a view of an impossible shape");
}

void check(Program const& program, Op const& op) {
  require(op.inputs.size() <= kMostOperands && op.outputs.size() <= kMostOperands,
          "has too many operands");
  for (auto const* views : {&op.inputs, &op.outputs})
    for (View const& view : present(*views)) check(program, view);
  require(op.in_place.size() <= op.outputs.size(), "has more outputs in place than outputs");
  for (int const output : op.in_place)
    require(is_id(output, op.outputs) && is_present(op.outputs[static_cast<std::size_t>(output)]),
            "has no output {} to be in place", output);
  bool const has_first = !op.inputs.empty() && is_present(op.inputs.front());
  require(op.flops >= 0 && op.flops <= 1e24, "has impossible flops");
  require(has_first || (op.flops == 0 && op.kind != OpKind::tree_sum), "has no first input");
  require(op.kind != OpKind::tree_sum || !op.inputs.front().shape.empty(),
          "sums what is one number");
  require(op.workspace_bytes >= 0, "has an impossible workspace");
}

void check(Program const& program, Chunk const& chunk) {
  for (TensorId const id : {chunk.parameter, chunk.gradient}) check_tensor(program, id, true);
  for (State const& state : chunk.states) check_tensor(program, state.tensor, true);
  for (TensorId const slice : {chunk.parameter_slice, chunk.gradient_slice})
    check_tensor(program, slice, true);
  for (Parameter const& parameter : chunk.parameters) check(program, parameter.view);
}

void check(Program const& program, Buffer const& buffer) {
  check_tensor(program, buffer.tensor,
               program.once);  // -1 is allowed in a move, whose slots belong to no tensor
  require(buffer.bytes >= 0 && buffer.stride >= 0, "has an impossible size");
}

void check(Program const& program, Item const& item) {
  auto const items = std::ssize(program.items);
  require(item.horizon >= item.number && item.horizon <= 2 * items, "has an impossible horizon");
  for (Access const& access : accesses(item))
    for (ItemNumber const writer : access.writers)
      require(is_id(writer, program.items), "expects bytes of item {}, which does not exist",
              writer);
}

void check_each(Program const& program, auto const& list) {
  for (std::size_t i = 0; i < list.size(); ++i) within(i, [&] { check(program, list[i]); });
}

// Checks that all ranks together move fewer than 2^63 bytes in a step.
void check_sums(Program const& program) {
  std::int64_t moved = 0;
  for (Segment const& segment : program.segments) {
    std::int64_t once = 0;
    auto const last = std::min<std::int64_t>(segment.last, std::ssize(program.items));
    for (auto i = std::max(0, segment.first); i < last; ++i) {
      for (Access const& write : program.items[i].writes)
        once = clamped_sum(once, std::max<std::int64_t>(0, write.last - write.first));
    }
    moved = clamped_sum(moved, clamped_product(once, times_a_step(program, segment)));
  }
  require(clamped_product(moved, program.ranks) < std::numeric_limits<std::int64_t>::max(),
          "move more bytes in a step than 63 bits count");
}

}  // namespace

void check_references(Program const& program) {
  within("micro_batches", [&] { check_count(program.micro_batches, kMostMicroBatches); });
  within("ranks", [&] { check_count(program.ranks, kMostRanks); });
  within("segments", [&] { check(program, program.segments); });
  within("known", [&] { check(program, program.known); });
  within("tensors", [&] { check_each(program, program.tensors); });
  within("ops", [&] { check_each(program, program.ops); });
  within("chunks", [&] { check_each(program, program.chunks); });
  within("buffers", [&] { check_each(program, program.buffers); });
  within("items", [&] { check_each(program, program.items); });
  within("items", [&] { check_sums(program); });
}

}  // namespace spillway
