#include <algorithm>
#include <utility>

#include "plan/data/reach.hpp"
#include "plan/proof/flaw.hpp"
#include "plan/proof/unroll.hpp"
#include "plan/proof/verify.hpp"

namespace spillway {

namespace {

void check_buffers(Program const& program) {
  for (BufferId id = 0; Buffer const& b : program.buffers) {
    require(b.id == id, "buffer {} has id {}", id, b.id);
    ++id;
    require(b.versions == 1 || (b.versions == 2 && b.stride >= b.bytes),
            "'{}' has {} versions {} bytes apart", b.name, b.versions, b.stride);
    auto const end = b.offset + (b.versions - 1) * b.stride + b.bytes;
    auto const peak = program.peak_bytes[b.tier];
    require(b.offset >= 0 && end <= peak, "'{}' ends at byte {} of a {} tier of {}", b.name, end,
            name(b.tier), peak);
  }
}

// Checks that no two buffers of state share a byte, because state is kept from step to step.
void check_state(Program const& program) {
  std::vector<Buffer const*> state;
  for (Buffer const& buffer : program.buffers)
    if (buffer.persistent) state.push_back(&buffer);
  std::ranges::sort(state, {}, [](Buffer const* b) { return std::pair(b->tier, b->offset); });
  for (std::size_t i = 1; i < state.size(); ++i) {
    Buffer const &a = *state[i - 1], &b = *state[i];
    require(a.tier != b.tier || b.offset >= a.offset + a.bytes,
            "'{}' and '{}' are both state and share {} bytes", a.name, b.name, name(a.tier));
  }
}

void check_segments(Program const& program) {
  ItemNumber next = 0;
  for (Segment const& segment : program.segments) {
    require(segment.first == next && segment.last >= segment.first,
            "segment '{}' does not begin where the one before it ends", segment.name);
    next = segment.last;
  }
  require(next == std::ssize(program.items), "{} of {} items are in no segment",
          program.items.size() - next, program.items.size());
  for (Segment const& segment : program.segments) {
    for (auto i = segment.first; i < segment.last; ++i) {
      Item const& item = program.items[i];
      bool const of_step = item.micro_batch == -1 && item.kind != ItemKind::load_batch;
      require(of_step || (item.micro_batch >= 0 && item.micro_batch < segment.micro_batches),
              "item {} is of micro-batch {} in segment '{}', which runs {}", i, item.micro_batch,
              segment.name, segment.micro_batches);
    }
  }
}

bool has_its_operands(Program const& program, Item const& item) {
  auto const count = item.operands.size();
  if (item.kind == ItemKind::op) {
    Op const& op = program.ops[item.op];
    return count == op.inputs.size() + op.outputs.size() + (op.workspace_bytes > 0 ? 1 : 0);
  }
  using enum ItemKind;
  bool const may_have_three = item.kind == copy || item.kind == commit || item.kind == all_gather;
  return item.kind == ItemKind::load_batch || count == 2 || (may_have_three && count == 3);
}

void check_access(Program const& program, Access const& access) {
  require(is_id(access.buffer, program.buffers), "uses buffer {}, which does not exist",
          access.buffer);
  Buffer const& b = program.buffers[access.buffer];
  require(0 <= access.first && access.first < access.last && access.last <= b.bytes,
          "uses bytes [{}, {}) of '{}', which has {}", access.first, access.last, b.name, b.bytes);
}

// Checks that an item does not write bytes of one buffer that it also uses as bytes of another one,
// because the accesses of an item happen in any order.
void check_apart(Program const& program, Access const& write, Access const& other) {
  Buffer const& a = program.buffers[write.buffer];
  Buffer const& b = program.buffers[other.buffer];
  if (a.id == b.id || a.tier != b.tier) return;
  for (int const step : {0, 1}) {
    auto const x = arena_range(a, write, step), y = arena_range(b, other, step);
    require(x.first >= y.last || y.first >= x.last, "writes '{}' where it uses '{}'", a.name,
            b.name);
  }
}

// Checks that an item touches only bytes that its lane reaches.
void check_reach(Program const& program, Item const& item) {
  if (item.kind == ItemKind::copy) {
    Buffer const& from = program.buffers[item.operands[0]];
    Buffer const& to = program.buffers[item.operands[1]];
    return require(!is_staged(from.tier, to.tier, program.unified),
                   "copies '{}' from {} to {} directly", from.name, name(from.tier), name(to.tier));
  }
  for (BufferId const operand : item.operands) {
    if (operand == kAbsent) continue;
    Buffer const& b = program.buffers[operand];
    bool const computes = item.lane == Lane::compute && is_id(b.tensor, program.tensors);
    bool const there = computes ? b.tier == compute_tier(program.tensors[b.tensor], program.unified)
                                : reaches(item.lane, b.tier, program.unified);
    require(there, "cannot reach '{}' on the tier {}", b.name, name(b.tier));
  }
}

void check_item(Program const& program, Item const& item) {
  bool const is_op = item.kind == ItemKind::op;
  require(!is_op || is_id(item.op, program.ops), "runs op {}, which does not exist", item.op);
  require(has_its_operands(program, item), "has {} operands, which its kind does not take",
          item.operands.size());
  for (BufferId const operand : item.operands)
    require(is_id(operand, program.buffers) || (is_op && operand == kAbsent),
            "works on buffer {}, which does not exist", operand);
  check_reach(program, item);
  for (Access const& access : accesses(item)) check_access(program, access);
  for (Access const& write : item.writes)
    for (Access const& other : accesses(item)) check_apart(program, write, other);
  for (ItemNumber const wait : item.waits)
    require(is_id(wait, program.items), "waits for item {}, which does not exist", wait);
}

}  // namespace

std::optional<Violation> check_shape(Program const& program) {
  try {
    check_buffers(program);
    check_state(program);
    check_segments(program);
  } catch (Flaw const& flaw) {
    return Violation{-1, -1, flaw.why};
  }
  for (ItemNumber number = 0; Item const& item : program.items) {
    if (item.number != number)
      return Violation{-1, number, fmt::format("item {} says {}", number, item.number)};
    try {
      check_item(program, item);
    } catch (Flaw const& flaw) {
      return Violation{-1, number,
                       fmt::format("item {} {}: {}", number, name(item.lane), flaw.why)};
    }
    ++number;
  }
  return std::nullopt;
}

}  // namespace spillway
