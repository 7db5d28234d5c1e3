#include "plan/proof/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "plan/proof/byte_cells.hpp"
#include "plan/proof/clock.hpp"

namespace spillway {

namespace {

// A Byte names the last writer of a byte and, for each lane, the last reader since then.
struct Byte {
  ItemNumber writer = -1;     // This is -1 if nothing has written the byte yet.
  std::int32_t position = 0;  // The writer has this position on its lane.
  int segment = 0;            // the number of the run of a segment in which the writer ran
  BufferId buffer = -1;       // the buffer that was last written, or whose state lies here
  Clock readers{};
};

class Verifier {
 public:
  explicit Verifier(Program const& program)
      : m_program(program),
        m_clocks(program.items.size()),
        m_read(program.buffers.size(), false),
        m_cells(program),
        m_memory(m_cells) {
    for (Item const& item : program.items)
      for (Access const& read : item.reads) m_read[read.buffer] = true;
    for (Buffer const& state : program.buffers) {
      if (!state.persistent) continue;
      for (Byte& byte : m_memory[m_cells.all(state)]) byte.buffer = state.id;
    }
  }

  std::optional<Violation> visit(Instance const& now) {
    Item const& item = m_program.items[now.item];
    m_start = m_clocks.start(m_program, item);
    auto const reads = m_cells.reads(item, now.step), writes = m_cells.writes(item, now.step);
    for (std::size_t i = 0; i < reads.size(); ++i) check_read(now, item, item.reads[i], reads[i]);
    for (std::size_t i = 0; i < writes.size(); ++i) check_write(item, item.writes[i], writes[i]);
    record(now, item, m_clocks.append(item, m_start));
    return std::exchange(m_violation, std::nullopt);
  }

  // Checks the results of a step, which are spanning buffers that no item reads: the caller who
  // runs the Program reads them after each step.
  std::optional<Violation> end_step(int step) {
    for (Item const& item : m_program.items) {
      auto const writes = m_cells.writes(item, step);
      for (std::size_t i = 0; i < writes.size(); ++i) {
        auto const id = item.writes[i].buffer;
        if (buffer(id).spanning && !m_read[id]) check_result(item, id, writes[i]);
      }
    }
    return std::exchange(m_violation, std::nullopt);
  }

 private:
  Buffer const& buffer(BufferId id) const { return m_program.buffers[id]; }
  bool complete(Lane lane, std::int32_t position) const { return m_start[lane] >= position; }
  Lane lane_of(ItemNumber item) const { return m_program.items[item].lane; }

  void check_read(Instance const& now, Item const& item, Access const& read,
                  ByteCells::CellRange const& cells) {
    for (auto cell = cells.first; cell < cells.last; ++cell) {
      auto const trouble = trouble_of_read(now, read, m_memory[cell]);
      if (!trouble.empty()) report(m_memory[cell].writer, item.number, trouble, read.buffer, cell);
    }
  }

  std::string trouble_of_read(Instance const& now, Access const& read, Byte const& byte) const {
    Buffer const& mine = buffer(read.buffer);
    if (byte.writer < 0)
      return byte.buffer == read.buffer ? "" : "reads bytes that nothing has written";
    if (byte.buffer != read.buffer)
      return fmt::format("finds the bytes of '{}', written by", buffer(byte.buffer).name);
    if (std::ranges::count(read.writers, byte.writer) == 0) return "does not expect the value of";
    if (!mine.spanning && !mine.persistent && byte.segment != now.segment)
      return "reads what an earlier micro-batch left, written by";
    return complete(lane_of(byte.writer), byte.position)
               ? ""
               : "may start before the end of its writer,";
  }

  void check_write(Item const& item, Access const& write, ByteCells::CellRange const& cells) {
    for (auto cell = cells.first; cell < cells.last; ++cell) {
      Byte const& byte = m_memory[cell];
      bool const of_other = byte.buffer >= 0 && byte.buffer != write.buffer;
      // No other buffer may overwrite state, even if a later item writes the state again, because a
      // step that is not committed must leave state unchanged.
      bool const is_moved = m_program.once && byte.readers != Clock{};
      if (of_other && buffer(byte.buffer).persistent && !is_moved)
        report(byte.writer, item.number, "overwrites state, last written by", byte.buffer, cell);
      if (byte.writer >= 0 && !complete(lane_of(byte.writer), byte.position))
        report(byte.writer, item.number, "may overwrite bytes still being written by", write.buffer,
               cell);
      for (Lane const lane : kLanesInOrder) {
        if (complete(lane, byte.readers[lane])) continue;
        report(m_clocks.item_at(lane, byte.readers[lane]), item.number,
               "may overwrite bytes still being read by", write.buffer, cell);
      }
    }
  }

  void check_result(Item const& item, BufferId result, ByteCells::CellRange const& cells) {
    for (auto cell = cells.first; cell < cells.last; ++cell) {
      Byte const& byte = m_memory[cell];
      if (byte.buffer == result) continue;
      report(item.number, byte.writer, "overwrites a result, made by", result, cell);
    }
  }

  void report(ItemNumber earlier, ItemNumber later, std::string const& trouble, BufferId id,
              std::size_t cell) {
    if (m_violation) return;
    auto const [first, last] = m_cells.bytes(cell);
    auto const other = earlier < 0 ? "" : describe(m_program, earlier);
    m_violation = {
        earlier, later,
        fmt::format("{} {} {}: '{}', {} bytes [{}, {})", describe(m_program, later), trouble, other,
                    buffer(id).name, name(buffer(id).tier), first, last)};
  }

  void record(Instance const& now, Item const& item, std::int32_t position) {
    for (auto const& range : m_cells.reads(item, now.step))
      for (Byte& byte : m_memory[range]) byte.readers[item.lane] = position;
    auto const writes = m_cells.writes(item, now.step);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      Byte const byte{item.number, position, now.segment, item.writes[i].buffer, {}};
      std::ranges::fill(m_memory[writes[i]], byte);
    }
  }

  Program const& m_program;
  LaneClocks m_clocks;
  IdVector<bool> m_read;  // true for each buffer that an item reads
  ByteCells m_cells;
  PerCell<Byte> m_memory;
  Clock m_start{};  // the clock at which the visited instance starts
  std::optional<Violation> m_violation;
};

}  // namespace

std::optional<Violation> verify(Program const& program) {
  if (auto const wrong = check_shape(program)) return wrong;
  Verifier verifier(program);
  int step = 0;
  for (Instance const& now : unroll_for_proof(program)) {
    if (now.step != step) {
      if (auto const violation = verifier.end_step(step++)) return violation;
    }
    if (auto const violation = verifier.visit(now)) return violation;
  }
  return verifier.end_step(step);
}

void prove(Program const& program) {
  // Release builds check this too, because a wrong Program would silently train on wrong numbers.
  if (auto const violation = verify(program)) throw std::logic_error(violation->why);
}

}  // namespace spillway
