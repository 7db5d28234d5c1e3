#include "tests/support/damage.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan/data/program.hpp"
#include "plan/memory/layout.hpp"
#include "plan/memory/lifetime.hpp"

namespace spillway::test {

namespace {

// Puts items in a new order: order[i] is the old number of the new item i.
void reorder(Program& program, std::vector<ItemNumber> const& order) {
  std::vector<ItemNumber> number(order.size());
  IdVector<Item> items;
  for (std::size_t i = 0; i < order.size(); ++i) {
    number[static_cast<std::size_t>(order[i])] = static_cast<ItemNumber>(i);
    items.push_back(program.items[static_cast<std::size_t>(order[i])]);
  }
  auto const renumber = [&](ItemNumber& n) { n = number[static_cast<std::size_t>(n)]; };
  for (Item& item : items) {
    renumber(item.number);
    std::for_each(item.waits.begin(), item.waits.end(), renumber);
    for (Access& read : item.reads) {
      std::for_each(read.writers.begin(), read.writers.end(), renumber);
    }
  }
  program.items = std::move(items);
}

// Searches the list from a random place on. Returns the first element that suits, or null.
template <class List, class Suits>
auto* pick(List& list, Random& random, Suits suits) {
  auto const n = static_cast<int>(list.size());
  int const from = n > 0 ? below(random, n) : 0;
  for (int i = 0; i < n; ++i) {
    auto& element = list[static_cast<std::size_t>((from + i) % n)];
    if (suits(element)) return &element;
  }
  return static_cast<decltype(&list[0])>(nullptr);
}

// Returns whether the buffer would end inside its tier if it began at this offset.
bool fits(Program const& program, Buffer const& buffer, std::int64_t offset) {
  auto const end = offset + (buffer.versions - 1) * buffer.stride + buffer.bytes;
  return 0 <= offset && end <= program.peak_bytes[index(buffer.tier)];
}

// Returns the item before this one on its lane in the same step, or -1 if there is none.
ItemNumber before_on_lane(Program const& program, ItemNumber item) {
  auto const lane = program.items[static_cast<std::size_t>(item)].lane;
  while (--item >= 0 && program.items[static_cast<std::size_t>(item)].lane != lane) continue;
  return item;
}

}  // namespace

bool remove_wait(Program& program, Random& random) {
  auto* const item = pick(program.items, random, [](Item const& i) { return !i.waits.empty(); });
  if (!item) return false;
  item->waits.erase(item->waits.begin() + below(random, static_cast<int>(item->waits.size())));
  return true;
}

bool weaken_wait(Program& program, Random& random) {
  auto* const item = pick(program.items, random, [](Item const& i) { return !i.waits.empty(); });
  if (!item) return false;
  auto& wait = item->waits[random() % item->waits.size()];
  auto const before = before_on_lane(program, wait);
  if (before < 0) return false;
  wait = before;
  return true;
}

bool move_buffer(Program& program, Random& random) {
  auto& buffer = program.buffers[random() % program.buffers.size()];
  auto const& other = program.buffers[random() % program.buffers.size()];
  bool const possible = buffer.tier == other.tier && buffer.offset != other.offset;
  if (!possible || !fits(program, buffer, other.offset)) return false;
  buffer.offset = other.offset;
  return true;
}

bool shift_buffer(Program& program, Random& random) {
  auto& buffer = program.buffers[random() % program.buffers.size()];
  auto const unit = alignment_bytes(buffer.bytes, buffer.tier);
  auto const offset = buffer.offset + unit * (below(random, 9) - 4);
  if (offset == buffer.offset || !fits(program, buffer, offset)) return false;
  buffer.offset = offset;
  return true;
}

bool shorten_stays(Program& program, Random&) {
  for (Item& item : program.items) item.horizon = item.number;
  auto const peaks = program.peak_bytes;
  Program* programs[] = {&program};
  layout(programs);
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    program.peak_bytes[tier] = std::max(program.peak_bytes[tier], peaks[tier]);
  }
  return true;
}

bool move_item_forward(Program& program, Random& random) {
  auto const& segment = program.segments[random() % program.segments.size()];
  if (segment.last - segment.first < 2) return false;
  ItemNumber const from = segment.first + 1 + below(random, segment.last - segment.first - 1);
  ItemNumber const to = segment.first + below(random, from - segment.first);
  std::vector<ItemNumber> order(program.items.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
  reorder(program, order);
  return true;
}

bool change_lane(Program& program, Random& random) {
  auto& item = program.items[random() % program.items.size()];
  auto const lane = static_cast<Lane>(below(random, kLanes));
  return std::exchange(item.lane, lane) != lane;
}

bool change_range(Program& program, Random& random) {
  auto& item = program.items[random() % program.items.size()];
  auto& list = below(random, 2) == 0 ? item.reads : item.writes;
  if (list.empty()) return false;
  auto& access = list[random() % list.size()];
  auto const bytes = program.buffers[static_cast<std::size_t>(access.buffer)].bytes;
  auto changed = access;
  (below(random, 2) == 0 ? changed.first : changed.last) += below(random, 2) == 0 ? 64 : -64;
  if (changed.first < 0 || changed.last > bytes || changed.first >= changed.last) return false;
  access = changed;
  return true;
}

bool drop_writer(Program& program, Random& random) {
  auto& reads = program.items[random() % program.items.size()].reads;
  auto* const read = pick(reads, random, [](Access const& r) { return !r.writers.empty(); });
  if (!read) return false;
  read->writers.erase(read->writers.begin() +
                      below(random, static_cast<int>(read->writers.size())));
  return true;
}

bool forget_span(Program& program, Random& random) {
  auto* const buffer = pick(program.buffers, random, [](Buffer const& b) { return b.spanning; });
  if (buffer) buffer->spanning = false;
  return buffer;
}

bool drop_version(Program& program, Random& random) {
  auto* const buffer =
      pick(program.buffers, random, [](Buffer const& b) { return b.versions > 1; });
  if (buffer) buffer->versions = 1;
  return buffer;
}

}  // namespace spillway::test
