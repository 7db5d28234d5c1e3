#include <fmt/format.h>

#include <algorithm>

#include "plan/check_shape.hpp"
#include "plan/clock.hpp"
#include "plan/interval_map.hpp"
#include "plan/passes.hpp"
#include "plan/unroll.hpp"

namespace spillway {

namespace {

struct Byte {
  ItemNumber writer = -1;  // none yet
  std::int32_t position = 0;
  int segment = 0;
  BufferId buffer = -1;  // of the writer; before step 0, of state
  Clock readers{};       // since then: per lane the furthest
};

class Verifier {
 public:
  explicit Verifier(Program const& program)
      : m_program(program), m_clocks(program.items.size()), m_read(program.buffers.size(), false) {
    for (Item const& item : program.items) {
      for (Access const& read : item.reads) m_read[static_cast<std::size_t>(read.buffer)] = true;
    }
    for (Buffer const& state : program.buffers) {
      Access const all{state.id, 0, state.bytes, {}};
      if (state.persistent) {
        memory(all).assign(state.offset, state.offset + state.bytes, {.buffer = state.id});
      }
    }
  }

  std::optional<Violation> visit(Instance const& now) {
    Item const& item = m_program.items[static_cast<std::size_t>(now.item)];
    m_start = m_clocks.start(m_program, item);
    for (Access const& read : item.reads) check_read(now, item, read);
    for (Access const& write : item.writes) check_write(now, item, write);
    record(now, item, m_clocks.append(item, m_start));
    return std::exchange(m_violation, std::nullopt);
  }

  // What spans segments and is read by no item is for whoever runs the Program, after each step.
  std::optional<Violation> end_step(int step) {
    for (Item const& item : m_program.items) {
      for (Access const& write : item.writes) {
        bool const result =
            buffer(write.buffer).spanning && !m_read[static_cast<std::size_t>(write.buffer)];
        if (result) check_result(item, write, step);
      }
    }
    return std::exchange(m_violation, std::nullopt);
  }

 private:
  Buffer const& buffer(BufferId id) const {
    return m_program.buffers[static_cast<std::size_t>(id)];
  }
  IntervalMap<Byte>& memory(Access const& access) {
    return m_memory[static_cast<std::size_t>(buffer(access.buffer).tier)];
  }
  bool complete(Lane lane, std::int32_t position) const { return m_start[index(lane)] >= position; }
  Lane lane_of(ItemNumber item) const {
    return m_program.items[static_cast<std::size_t>(item)].lane;
  }

  void check_read(Instance const& now, Item const& item, Access const& read) {
    auto const [first, last] = placed(buffer(read.buffer), read, now.step);
    memory(read).visit(first, last, [&](auto from, auto to, Byte const& byte) {
      if (auto const trouble = trouble_of_read(now, read, byte); !trouble.empty()) {
        report(byte.writer, item.number, trouble, read.buffer, from, to);
      }
    });
  }

  std::string trouble_of_read(Instance const& now, Access const& read, Byte const& byte) const {
    Buffer const& mine = buffer(read.buffer);
    if (byte.writer < 0) {
      return byte.buffer == read.buffer ? "" : "reads bytes that nothing has written";
    }
    if (byte.buffer != read.buffer) {
      return fmt::format("finds the bytes of '{}', written by", buffer(byte.buffer).name);
    }
    if (std::find(read.writers.begin(), read.writers.end(), byte.writer) == read.writers.end()) {
      return "does not expect the value of";
    }
    if (!mine.spanning && !mine.persistent && byte.segment != now.segment) {
      return "reads what an earlier micro-batch left, written by";
    }
    return complete(lane_of(byte.writer), byte.position)
               ? ""
               : "may start before the end of its writer,";
  }

  void check_write(Instance const& now, Item const& item, Access const& write) {
    auto const [first, last] = placed(buffer(write.buffer), write, now.step);
    memory(write).visit(first, last, [&](auto from, auto to, Byte const& byte) {
      bool const of_other = byte.buffer >= 0 && byte.buffer != write.buffer;
      // Even what a later item overwrites: an uncommitted step must leave state as it was.
      bool const is_moved = m_program.once && byte.readers != Clock{};
      if (of_other && buffer(byte.buffer).persistent && !is_moved) {
        report(byte.writer, item.number, "overwrites state, last written by", byte.buffer, from,
               to);
      }
      if (byte.writer >= 0 && !complete(lane_of(byte.writer), byte.position)) {
        report(byte.writer, item.number, "may overwrite bytes still being written by", write.buffer,
               from, to);
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        auto const reader = static_cast<Lane>(lane);
        if (complete(reader, byte.readers[lane])) continue;
        report(m_clocks.item_at(reader, byte.readers[lane]), item.number,
               "may overwrite bytes still being read by", write.buffer, from, to);
      }
    });
  }

  void check_result(Item const& item, Access const& write, int step) {
    auto const [first, last] = placed(buffer(write.buffer), write, step);
    memory(write).visit(first, last, [&](auto from, auto to, Byte const& byte) {
      if (byte.buffer == write.buffer) return;
      report(item.number, byte.writer, "overwrites a result, made by", write.buffer, from, to);
    });
  }

  void report(ItemNumber earlier, ItemNumber later, std::string const& trouble, BufferId id,
              std::int64_t first, std::int64_t last) {
    if (m_violation) return;
    auto const other = earlier < 0 ? "" : describe(m_program, earlier);
    m_violation = {
        earlier, later,
        fmt::format("{} {} {}: '{}', {} bytes [{}, {})", describe(m_program, later), trouble, other,
                    buffer(id).name, name(buffer(id).tier), first, last)};
  }

  void record(Instance const& now, Item const& item, std::int32_t position) {
    for (Access const& read : item.reads) {
      auto const [first, last] = placed(buffer(read.buffer), read, now.step);
      memory(read).update(first, last,
                          [&](Byte& byte) { byte.readers[index(item.lane)] = position; });
    }
    for (Access const& write : item.writes) {
      auto const [first, last] = placed(buffer(write.buffer), write, now.step);
      memory(write).assign(first, last, {item.number, position, now.segment, write.buffer, {}});
    }
  }

  Program const& m_program;
  LaneClocks m_clocks;
  std::vector<bool> m_read;  // per buffer: whether an item reads it
  std::array<IntervalMap<Byte>, kTiers> m_memory;
  Clock m_start{};  // of the instance being visited
  std::optional<Violation> m_violation;
};

}  // namespace

std::optional<Violation> verify(Program const& program) {
  if (auto const wrong = check_shape(program)) return wrong;
  Verifier verifier(program);
  int step = 0;
  for (Instance const& now : unroll(program, proof_sequence(program), proof_steps(program))) {
    if (now.step != step) {
      if (auto const violation = verifier.end_step(step++)) return violation;
    }
    if (auto const violation = verifier.visit(now)) return violation;
  }
  return verifier.end_step(step);
}

}  // namespace spillway
