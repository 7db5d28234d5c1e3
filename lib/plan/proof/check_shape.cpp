#include "plan/proof/check_shape.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "plan/proof/unroll.hpp"

namespace spillway {

namespace {

std::string check_buffers(Program const& program) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    Buffer const& b = program.buffers[i];
    auto const peak = program.peak_bytes[b.tier];
    if (b.id != static_cast<BufferId>(i)) return fmt::format("buffer {} has id {}", i, b.id);
    if (b.versions < 1 || b.versions > 2 || (b.versions > 1 && b.stride < b.bytes)) {
      return fmt::format("'{}' has {} versions {} bytes apart", b.name, b.versions, b.stride);
    }
    std::int64_t const end = b.offset + (b.versions - 1) * b.stride + b.bytes;
    if (b.offset < 0 || end > peak) {
      return fmt::format("'{}' ends at byte {} of a {} tier of {}", b.name, end, name(b.tier),
                         peak);
    }
  }
  return "";
}

// State is there before step 0 and after every step, so no two buffers of it share a byte.
std::string check_state(Program const& program) {
  std::vector<Buffer const*> state;
  for (Buffer const& buffer : program.buffers) {
    if (buffer.persistent) state.push_back(&buffer);
  }
  std::ranges::sort(state, {}, [](Buffer const* b) { return std::pair(b->tier, b->offset); });
  for (std::size_t i = 1; i < state.size(); ++i) {
    Buffer const &a = *state[i - 1], &b = *state[i];
    if (a.tier == b.tier && b.offset < a.offset + a.bytes) {
      return fmt::format("'{}' and '{}' are both state and share {} bytes", a.name, b.name,
                         name(a.tier));
    }
  }
  return "";
}

std::string check_segments(Program const& program) {
  ItemNumber next = 0;
  for (Segment const& segment : program.segments) {
    if (segment.first != next || segment.last < segment.first) {
      return fmt::format("segment '{}' does not begin where the one before it ends", segment.name);
    }
    next = segment.last;
  }
  for (Segment const& segment : program.segments) {
    for (auto i = segment.first;
         i < std::min<std::ptrdiff_t>(segment.last, std::ssize(program.items)); ++i) {
      Item const& item = program.items[i];
      bool const of_step = item.micro_batch == -1 && item.kind != ItemKind::load_batch;
      if (!of_step && (item.micro_batch < 0 || item.micro_batch >= segment.micro_batches))
        return fmt::format("item {} is of micro-batch {} in segment '{}', which runs {}", i,
                           item.micro_batch, segment.name, segment.micro_batches);
    }
  }
  return next == static_cast<ItemNumber>(program.items.size())
             ? ""
             : fmt::format("{} of {} items are in no segment", program.items.size() - next,
                           program.items.size());
}

bool has_its_operands(Program const& program, Item const& item) {
  auto const count = item.operands.size();
  switch (item.kind) {
    case ItemKind::op: {
      Op const& op = program.ops[item.op];
      return count == op.inputs.size() + op.outputs.size() + (op.workspace_bytes > 0 ? 1 : 0);
    }
    case ItemKind::copy:
      return count == 2 || count == 3;
    case ItemKind::commit:
      return count == 2 || count == 3;
    case ItemKind::report:
    case ItemKind::all_to_all:
    case ItemKind::all_gather:
      return count == 2;
    case ItemKind::load_batch:
      return true;
  }
  return false;
}

std::string check_operand(Program const& program, Item const& item, BufferId operand) {
  bool const is_there = operand >= 0 && operand < static_cast<BufferId>(program.buffers.size());
  bool const may_lack = item.kind == ItemKind::op && operand == kAbsent;
  return is_there || may_lack ? ""
                              : fmt::format("works on buffer {}, which does not exist", operand);
}

std::string check_access(Program const& program, Access const& access) {
  if (access.buffer < 0 || access.buffer >= static_cast<BufferId>(program.buffers.size())) {
    return fmt::format("uses buffer {}, which does not exist", access.buffer);
  }
  Buffer const& b = program.buffers[access.buffer];
  bool const inside = 0 <= access.first && access.first < access.last && access.last <= b.bytes;
  return inside ? ""
                : fmt::format("uses bytes [{}, {}) of '{}', which has {}", access.first,
                              access.last, b.name, b.bytes);
}

// Nothing is ordered within an item: only a buffer itself can be changed in place.
std::string check_apart(Program const& program, Access const& write, Access const& other) {
  Buffer const& a = program.buffers[write.buffer];
  Buffer const& b = program.buffers[other.buffer];
  if (a.id == b.id || a.tier != b.tier) return "";
  for (int const step : {0, 1}) {
    auto const x = placed(a, write, step), y = placed(b, other, step);
    if (x.first < y.last && y.first < x.last) {
      return fmt::format("writes '{}' where it uses '{}'", a.name, b.name);
    }
  }
  return "";
}

std::string check_item(Program const& program, Item const& item) {
  if (item.kind == ItemKind::op &&
      (item.op < 0 || item.op >= static_cast<int>(program.ops.size()))) {
    return fmt::format("runs op {}, which does not exist", item.op);
  }
  if (!has_its_operands(program, item)) {
    return fmt::format("has {} operands, which its kind does not take", item.operands.size());
  }
  for (BufferId const operand : item.operands) {
    if (auto const wrong = check_operand(program, item, operand); !wrong.empty()) return wrong;
  }
  for (auto const* accesses : {&item.reads, &item.writes}) {
    for (Access const& access : *accesses) {
      if (auto const wrong = check_access(program, access); !wrong.empty()) return wrong;
    }
  }
  for (Access const& write : item.writes) {
    for (auto const* accesses : {&item.reads, &item.writes}) {
      for (Access const& other : *accesses) {
        if (auto const wrong = check_apart(program, write, other); !wrong.empty()) return wrong;
      }
    }
  }
  for (ItemNumber const wait : item.waits) {
    if (wait < 0 || wait >= static_cast<ItemNumber>(program.items.size())) {
      return fmt::format("waits for item {}, which does not exist", wait);
    }
  }
  return "";
}

}  // namespace

std::optional<Violation> check_shape(Program const& program) {
  auto const fail = [](ItemNumber item, std::string const& why) {
    return Violation{-1, item, why};
  };
  if (auto const wrong = check_buffers(program); !wrong.empty()) return fail(-1, wrong);
  if (auto const wrong = check_state(program); !wrong.empty()) return fail(-1, wrong);
  if (auto const wrong = check_segments(program); !wrong.empty()) return fail(-1, wrong);
  for (std::size_t i = 0; i < program.items.size(); ++i) {
    Item const& item = program.items[i];
    auto const number = static_cast<ItemNumber>(i);
    if (item.number != number) return fail(number, fmt::format("item {} says {}", i, item.number));
    if (auto const wrong = check_item(program, item); !wrong.empty()) {
      return fail(number, fmt::format("item {} {}: {}", i, name(item.lane), wrong));
    }
  }
  return std::nullopt;
}

}  // namespace spillway
