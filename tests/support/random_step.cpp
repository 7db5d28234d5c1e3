#include <algorithm>
#include <array>

#include "plan/data/program.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test {

namespace {

constexpr int kMostCells = 4;  // the most cells that a chunk may have
constexpr Tier kAnyTier[] = {Tier::device, Tier::host, Tier::nvme};

class StepMaker {
 public:
  explicit StepMaker(Random& random) : m_random(random), m_made(1 + below(random, 4)) {}

  Program make() {
    for (int i = 1 + below(m_random, 2); i > 0; --i) add_chunk();
    m_norms = span(Tier::device, 1);
    m_control = span(Tier::device, 1);
    m_loss = span(Tier::device, 1);
    if (chance(30)) at(m_control).versions = 2;
    auto const micro_batches = m_made.program.micro_batches;
    if (micro_batches > 1) micro_batch("first", true);
    if (micro_batches > 2) micro_batch("middle", false);
    micro_batch("last", micro_batches == 1);
    update();
    set_horizons();
    return std::move(m_made.program);
  }

 private:
  struct Chunk {
    std::array<BufferId, 2> states;  // the parameters, then the moments
    BufferId gradient;
    int cells;
  };
  // A Saved is a value that the backward pass reads. `part` of it may be in buffer `away`.
  struct Saved {
    BufferId here, away = -1;
    Access part = {};
  };
  struct Slice {
    Chunk const* chunk;
    std::int64_t first, last;                 // in bytes
    std::array<BufferId, 2> work = {-1, -1};  // buffers in which the states are changed
  };

  bool chance(int percent) { return below(m_random, 100) < percent; }
  Buffer& at(BufferId id) { return m_made.program.buffers[static_cast<std::size_t>(id)]; }
  Lane worker() { return chance(70) ? Lane::compute : Lane::host; }
  ItemNumber next() const { return static_cast<ItemNumber>(m_made.program.items.size()); }

  BufferId add(Tier tier, int cells) { return m_made.buffer(tier, kCellBytes * cells); }
  BufferId span(Tier tier, int cells) {
    BufferId const id = add(tier, cells);
    at(id).spanning = true;
    return id;
  }
  BufferId state(int cells) {
    BufferId const id = add(kAnyTier[below(m_random, 3)], cells);
    at(id).persistent = true;
    return id;
  }

  // Adds a slot. By its role, its bytes may or may not serve other buffers between two slices.
  BufferId slot(Tier tier) {
    BufferId const id = add(tier, kMostCells);
    auto const role = chance(50) ? Role::workspace : Role::activation;
    m_made.program.tensors[static_cast<std::size_t>(id)].role = role;
    return id;
  }

  void add_chunk() {
    int const cells = 1 + below(m_random, kMostCells);
    auto const gradient = span(chance(50) ? Tier::device : Tier::host, cells);
    m_chunks.push_back({{state(cells), state(cells)}, gradient, cells});
  }

  Access all_of(BufferId id) { return {id, 0, at(id).bytes, {}}; }
  Access part_of(BufferId id) {
    auto const cells = static_cast<int>(at(id).bytes / kCellBytes);
    int const first = below(m_random, cells);
    int const last = first + 1 + below(m_random, cells - first);
    return {id, first * kCellBytes, last * kCellBytes, {}};
  }

  Item& op(Lane lane, std::vector<Access> reads, std::vector<Access> writes) {
    Item& item = m_made.program.items[static_cast<std::size_t>(m_made.item(lane, {}, {}))];
    item.reads = std::move(reads);
    item.writes = std::move(writes);
    return item;
  }
  Item& copy(Access const& from, Access const& to) {
    auto const lane = copy_lane(at(from.buffer).tier, at(to.buffer).tier);
    Item& item = op(lane, {from}, {to});
    item.kind = ItemKind::copy;
    item.operands = {from.buffer, to.buffer};
    return item;
  }

  // Returns a buffer on the device that holds the parameters, which are copied there if need be.
  BufferId fetch(Chunk const& chunk) {
    BufferId const home = chunk.states[0];
    if (at(home).tier == Tier::device) return home;
    BufferId const here = add(Tier::device, chunk.cells);
    copy(all_of(home), all_of(here));
    return here;
  }

  void micro_batch(char const* name, bool first) {
    m_made.segment(name);
    m_saved.clear();
    BufferId value = add(Tier::device, 1 + below(m_random, 3));
    if (chance(50)) at(value).versions = 2;
    op(Lane::h2d, {}, {all_of(value)});
    for (Chunk const& chunk : m_chunks) value = forward(chunk, value);
    op(Lane::compute, {part_of(value)}, {all_of(m_loss)});  // no item reads the loss
    for (auto chunk = m_chunks.rbegin(); chunk != m_chunks.rend(); ++chunk) {
      value = backward(*chunk, value, first);
    }
  }

  BufferId forward(Chunk const& chunk, BufferId value) {
    BufferId const parameters = fetch(chunk);
    for (int i = 1 + below(m_random, 2); i > 0; --i) {
      BufferId const made = add(Tier::device, 1 + below(m_random, 4));
      op(worker(), {part_of(parameters), part_of(value)}, {all_of(made)});
      if (chance(20)) op(worker(), {part_of(made)}, {part_of(made)});
      m_saved.push_back({value = made});
      if (chance(60)) spill(m_saved.back());
    }
    return value;
  }

  // Copies a value, or a part of it, away. A part is later reloaded to where it was, a whole value
  // into another buffer.
  void spill(Saved& saved) {
    saved.part = chance(50) ? all_of(saved.here) : part_of(saved.here);
    auto const bytes = saved.part.last - saved.part.first;
    saved.away = m_made.buffer(chance(50) ? Tier::host : Tier::nvme, bytes);
    copy(saved.part, all_of(saved.away));
    if (at(saved.away).tier != Tier::host || !chance(20)) return;
    BufferId const further = m_made.buffer(Tier::nvme, bytes);
    copy(all_of(saved.away), all_of(further));
    saved.away = further;
  }

  BufferId reloaded(Saved const& saved) {
    if (saved.away < 0) return saved.here;
    bool const whole = saved.part.last - saved.part.first == at(saved.here).bytes;
    BufferId const back = whole ? m_made.buffer(Tier::device, at(saved.here).bytes) : saved.here;
    Access part = saved.part;
    part.buffer = back;
    copy(all_of(saved.away), part);
    return back;
  }

  BufferId backward(Chunk const& chunk, BufferId value, bool first) {
    BufferId const parameters = fetch(chunk);
    BufferId const slope = add(Tier::device, 1 + below(m_random, 2));
    std::vector<Access> reads = {part_of(parameters), part_of(value)};
    for (int i = below(m_random, 3); i > 0 && !m_saved.empty(); --i) {
      reads.push_back(part_of(reloaded(m_saved.back())));
      m_saved.pop_back();
    }
    bool const at_home = first && at(chunk.gradient).tier == Tier::device;
    BufferId const fresh = at_home ? chunk.gradient : add(Tier::device, chunk.cells);
    op(Lane::compute, reads, {all_of(slope), all_of(fresh)});
    if (fresh != chunk.gradient) collect(chunk, fresh, first);
    return slope;
  }

  void collect(Chunk const& chunk, BufferId fresh, bool first) {
    auto const home = all_of(chunk.gradient);
    bool const on_host = at(chunk.gradient).tier == Tier::host;
    if (first) {
      copy(all_of(fresh), home);
      return;
    }
    if (on_host && chance(50)) {
      BufferId const there = add(Tier::host, chunk.cells);
      copy(all_of(fresh), all_of(there));
      fresh = there;
    }
    op(on_host ? Lane::host : Lane::compute, {all_of(fresh), home}, {home});
  }

  void update() {
    m_made.segment("update");
    auto slices = cut();
    int const ahead = below(m_random, 3);
    auto const count = static_cast<std::size_t>(ahead + 1 + below(m_random, 3));
    std::vector<std::array<BufferId, 2>> slots(count, {-1, -1});
    auto const bring = [&](std::size_t i) {
      if (i < slices.size()) bring_slice(slices[i], slots[i % slots.size()]);
    };
    for (int i = 0; i < ahead; ++i) bring(static_cast<std::size_t>(i));
    for (Chunk const& chunk : m_chunks) op(worker(), {part_of(chunk.gradient)}, {all_of(m_norms)});
    op(Lane::comm, {all_of(m_norms)}, {all_of(m_control)});
    for (std::size_t i = 0; i < slices.size(); ++i) {
      bring(i + static_cast<std::size_t>(ahead));
      change(slices[i]);
    }
  }

  std::vector<Slice> cut() {
    std::vector<Slice> slices;
    for (Chunk const& chunk : m_chunks) {
      auto const most = kCellBytes * (1 + below(m_random, chunk.cells));
      for (std::int64_t first = 0; first < chunk.cells * kCellBytes; first += most) {
        slices.push_back({&chunk, first, std::min(first + most, chunk.cells * kCellBytes)});
      }
    }
    return slices;
  }

  void bring_slice(Slice& slice, std::array<BufferId, 2>& slots) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      BufferId const home = slice.chunk->states[i];
      bool const stays = at(home).tier != Tier::nvme && chance(30);
      if (!stays && slots[i] < 0) slots[i] = slot(chance(50) ? Tier::device : Tier::host);
      slice.work[i] = stays ? home : slots[i];
      if (!stays) copy({home, slice.first, slice.last, {}}, worked(slice, i));
    }
  }

  Access worked(Slice const& slice, std::size_t i) {
    bool const stays = slice.work[i] == slice.chunk->states[i];
    auto const first = stays ? slice.first : 0;
    return {slice.work[i], first, first + slice.last - slice.first, {}};
  }

  void change(Slice const& slice) {
    auto const gradient = Access{slice.chunk->gradient, slice.first, slice.last, {}};
    std::vector<Access> const states = {worked(slice, 0), worked(slice, 1)};
    op(worker(), {gradient, all_of(m_control), states[0], states[1]}, states);
    for (std::size_t i = 0; i < states.size(); ++i) {
      BufferId const home = slice.chunk->states[i];
      if (slice.work[i] == home) continue;
      Item& back = copy(states[i], {home, slice.first, slice.last, {}});
      back.operands.push_back(m_control);
      back.reads.push_back(all_of(m_control));
    }
  }

  // Lets some items last to any later item of their segment or, in updates, into the next step.
  void set_horizons() {
    auto& program = m_made.program;
    auto const first_segment = program.segments.front();
    for (Segment const& segment : program.segments) {
      for (auto i = segment.first; i < segment.last; ++i) {
        Item& item = program.items[static_cast<std::size_t>(i)];
        if (!chance(item.lane == Lane::compute ? 10 : 40)) continue;
        bool const wraps = segment.name == "update" && chance(60);
        item.horizon = wraps ? next() + below(m_random, first_segment.last)
                             : i + below(m_random, segment.last - i);
      }
    }
  }

  Random& m_random;
  HandMade m_made;
  IdVector<Chunk> m_chunks;
  std::vector<Saved> m_saved;
  BufferId m_norms = -1, m_control = -1, m_loss = -1;
};

}  // namespace

Program random_step(Random& random) {
  Program program = StepMaker(random).make();
  complete(program);
  return program;
}

}  // namespace spillway::test
