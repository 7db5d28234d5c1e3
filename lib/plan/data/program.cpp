#include "plan/data/program.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.hpp"

namespace spillway {

namespace {

// Returns the name of the op that an item runs, or of the tensor that it moves.
std::string subject(Program const& program, Item const& item) {
  if (item.kind == ItemKind::op) return program.ops[item.op].name;
  if (!concerns_tensor(item.kind) || item.operands.empty()) return "";
  return program.buffers[item.operands.front()].name;
}

}  // namespace

Lane copy_lane(Tier from, Tier to) {
  if (to == Tier::nvme) return Lane::nvme_write;
  if (from == Tier::nvme) return Lane::nvme_read;
  return to == Tier::device ? Lane::h2d : Lane::d2h;
}

std::int64_t times_a_step(Program const& program, Segment const& segment) {
  if (!segment.is_middle()) return 1;
  auto left = program.micro_batches;
  for (Segment const& other : program.segments) {
    bool const is_update = other.name == "update";
    if (!other.is_middle() && !is_update) left -= other.micro_batches;
  }
  return std::max<std::int64_t>(0, left / std::max(1, segment.micro_batches));
}

int most_together(Program const& program) {
  int most = 1;
  for (Segment const& segment : program.segments) most = std::max(most, segment.micro_batches);
  return most;
}

std::vector<int> segment_sequence(Program const& program, std::int64_t most_middles) {
  std::vector<int> result;
  for (int s = 0; Segment const& segment : program.segments) {
    auto const times = times_a_step(program, segment);
    result.insert(result.end(), segment.is_middle() ? std::min(times, most_middles) : times, s++);
  }
  return result;
}

std::int64_t written_bytes(Item const& item) {
  std::int64_t bytes = 0;
  for (Access const& write : item.writes) bytes += write.last - write.first;
  return bytes;
}

std::string what(Program const& program, Item const& item) {
  auto const kind = item.kind == ItemKind::op ? name(program.ops[item.op].kind) : name(item.kind);
  auto const about = subject(program, item);
  return about.empty() ? std::string(kind) : fmt::format("{} {}", kind, about);
}

std::string describe(Program const& program, ItemNumber number) {
  if (number < 0 || number >= std::ssize(program.items)) return fmt::format("item {}", number);
  Item const& item = program.items[number];
  return fmt::format("item {} {} {} ({})", number, name(item.lane), what(program, item),
                     human_bytes(written_bytes(item)));
}

}  // namespace spillway
