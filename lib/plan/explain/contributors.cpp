#include "plan/explain/contributors.hpp"

#include <algorithm>
#include <functional>

#include "plan/memory/lifetime.hpp"

namespace spillway {

namespace {

using Part = PeakMoment::Part;

std::int64_t bytes_during(Lifetime const& stays, ItemNumber item) {
  std::int64_t bytes = 0;
  for (Stay const& stay : stays) bytes += stay.covers(item) ? stay.last_byte - stay.first_byte : 0;
  return bytes;
}

Tensor const& tensor_of(Program const& program, Buffer const& buffer) {
  return program.tensors[buffer.tensor];
}

// Activations of the block at work, and copies of what has its home elsewhere.
bool is_passing(Program const& program, Buffer const& buffer, int block_at_work) {
  Tensor const& tensor = tensor_of(program, buffer);
  if (content(program, buffer) == Content::activations)
    return buffer.tier == Tier::device && tensor.block == block_at_work;
  return tensor.persistent && !buffer.persistent;
}

Part& part_of(std::vector<Part>& parts, Content content, bool passing) {
  auto const found = std::ranges::find_if(
      parts, [&](Part const& part) { return part.content == content && part.passing == passing; });
  return found == parts.end() ? parts.emplace_back(content, passing) : *found;
}

std::vector<Part> parts_during(Program const& program, std::vector<Lifetime> const& alive,
                               Tier tier, ItemNumber item) {
  std::vector<Part> parts;
  int const block_at_work = program.items[item].block;
  for (Buffer const& buffer : program.buffers) {
    if (buffer.tier != tier) continue;
    auto const bytes = bytes_during(alive[buffer.id], item);
    if (bytes == 0) continue;
    bool const passing = is_passing(program, buffer, block_at_work);
    Part& part = part_of(parts, content(program, buffer), passing);
    part.bytes += bytes;
    ++part.tensors;
    if (bytes <= part.largest_bytes) continue;
    part.largest = buffer.id;
    part.largest_bytes = bytes;
  }
  std::ranges::stable_sort(parts, std::greater<>{}, &Part::bytes);
  return parts;
}

}  // namespace

PeakMoment peak_moment(Program const& program, Tier tier) {
  PeakMoment moment;
  moment.gap_bytes = program.peak_bytes[tier];
  auto const alive = lifetimes(program);
  auto const live = live_bytes(program, alive, tier);
  auto const most = std::ranges::max_element(live);
  if (most == live.end() || *most == 0) return moment;
  moment.item = static_cast<ItemNumber>(most - live.begin());
  moment.parts = parts_during(program, alive, tier, moment.item);
  moment.gap_bytes -= *most;
  return moment;
}

}  // namespace spillway
