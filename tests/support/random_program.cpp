#include "tests/support/random_program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/data/program.hpp"
#include "plan/memory/layout.hpp"
#include "plan/proof/derive.hpp"

namespace spillway::test {

namespace {

class ProgramGenerator {
 public:
  explicit ProgramGenerator(Random& random) : m_random(random) {}

  Program generate() {
    m_program.micro_batches = 1 + below(m_random, 5);
    for (int i = below(m_random, 2); i >= 0; --i) m_everywhere.push_back(persistent());
    for (std::string const& name : names(m_program.micro_batches)) {
      m_program.segments.push_back({name, next(), 0, 1});
      m_here.clear();
      m_away.clear();
      for (int i = 2 + below(m_random, 5); i > 0; --i) add_item();
      m_program.segments.back().last = next();
    }
    set_horizons();
    return std::move(m_program);
  }

 private:
  static std::vector<std::string> names(std::int64_t micro_batches) {
    if (micro_batches == 1) return {"last", "update"};
    if (micro_batches == 2) return {"first", "last", "update"};
    return {"first", "middle", "last", "update"};
  }

  ItemNumber next() const { return static_cast<ItemNumber>(m_program.items.size()); }
  bool chance(int percent) { return below(m_random, 100) < percent; }

  BufferId add_buffer(Tier tier, std::int64_t bytes) {
    auto const id = static_cast<BufferId>(m_program.buffers.size());
    Tensor tensor;
    tensor.id = id;
    tensor.dtype = DType::f64;
    tensor.shape = {bytes / size_bytes(DType::f64)};
    m_program.tensors.push_back(tensor);
    Buffer buffer;
    buffer.id = buffer.tensor = id;
    buffer.name = fmt::format("b{}", id);
    buffer.tier = tier;
    buffer.bytes = bytes;
    m_program.buffers.push_back(buffer);
    return id;
  }
  Buffer& buffer(BufferId id) { return m_program.buffers[static_cast<std::size_t>(id)]; }

  BufferId persistent() {
    BufferId const id = add_buffer(Tier::device, kCellBytes);
    buffer(id).persistent = true;
    return id;
  }

  BufferId fresh() {
    BufferId const id = add_buffer(Tier::device, kCellBytes * (1 + below(m_random, 3)));
    if (chance(15)) buffer(id).versions = 2;
    if (chance(20)) {
      buffer(id).spanning = true;
      m_everywhere.push_back(id);
    } else {
      m_here.push_back(id);
    }
    return id;
  }

  // Returns a random buffer that has a value, or -1 if there is none.
  BufferId any_written() {
    auto const n = static_cast<int>(m_here.size() + m_everywhere.size());
    if (n == 0) return -1;
    auto const i = static_cast<std::size_t>(below(m_random, n));
    return i < m_here.size() ? m_here[i] : m_everywhere[i - m_here.size()];
  }

  Access part_of(BufferId id) {
    auto const cells = static_cast<int>(buffer(id).bytes / kCellBytes);
    int const first = below(m_random, cells);
    int const last = first + 1 + below(m_random, cells - first);
    return {id, first * kCellBytes, last * kCellBytes, {}};
  }
  Access all_of(BufferId id) { return {id, 0, buffer(id).bytes, {}}; }

  void add_item() {
    if (!m_away.empty() && chance(30)) return reload();
    if (!m_here.empty() && chance(30)) return spill();
    add_op();
  }

  Item& append(Lane lane, ItemKind kind) {
    Item item;
    item.number = item.horizon = next();
    item.lane = lane;
    item.kind = kind;
    item.micro_batch = 0;
    m_program.items.push_back(item);
    return m_program.items.back();
  }

  void copy(BufferId from, BufferId to, Lane lane) {
    Item& item = append(lane, ItemKind::copy);
    item.operands = {from, to};
    item.reads = {all_of(from)};
    item.writes = {all_of(to)};
  }

  void spill() {
    BufferId const from = m_here[static_cast<std::size_t>(below(m_random, int(m_here.size())))];
    m_away.push_back(add_buffer(Tier::nvme, buffer(from).bytes));
    copy(from, m_away.back(), Lane::nvme_write);
  }

  void reload() {
    BufferId const from = m_away[static_cast<std::size_t>(below(m_random, int(m_away.size())))];
    BufferId const to = add_buffer(Tier::device, buffer(from).bytes);
    copy(from, to, Lane::nvme_read);
    m_here.push_back(to);
  }

  void add_op() {
    constexpr Lane lanes[] = {Lane::compute, Lane::compute, Lane::compute,
                              Lane::host,    Lane::comm,    Lane::h2d};
    Item& item = append(lanes[below(m_random, 6)], ItemKind::load_batch);
    for (int i = below(m_random, 3); i > 0; --i) {
      if (BufferId const id = any_written(); id >= 0) item.reads.push_back(part_of(id));
    }
    BufferId const target = chance(30) ? any_written() : -1;
    if (target < 0) {
      item.writes = {all_of(fresh())};
      // The item changes the buffer in place, or replaces what was there.
    } else {
      item.writes = {part_of(target)};
      if (chance(60)) item.reads.push_back(item.writes.front());
    }
  }

  void set_horizons() {
    for (Segment const& segment : m_program.segments) {
      for (ItemNumber i = segment.first; i < segment.last; ++i) {
        Item& item = m_program.items[static_cast<std::size_t>(i)];
        if (chance(20)) item.horizon = i + below(m_random, segment.last - i);
      }
    }
  }

  Random& m_random;
  Program m_program;
  // These lists have the buffers that hold a value: in this segment only (`m_here`), as spilled
  // copies (`m_away`), or in all segments (`m_everywhere`).
  std::vector<BufferId> m_here, m_away, m_everywhere;
};

}  // namespace

void complete(Program& program) {
  link(program);
  Program* programs[] = {&program};
  layout(programs);
  derive_waits(program);
}

Program random_program(Random& random) {
  Program program = ProgramGenerator(random).generate();
  complete(program);
  return program;
}

}  // namespace spillway::test
