#include <algorithm>

#include "plan/interval_map.hpp"
#include "plan/passes.hpp"
#include "plan/unroll.hpp"

namespace spillway {

namespace {

struct Writer {
  ItemNumber item = -1;
};
using Memory = std::vector<IntervalMap<Writer>>;  // per buffer and version

void note(std::vector<ItemNumber>& writers, ItemNumber item) {
  auto const place = std::lower_bound(writers.begin(), writers.end(), item);
  if (place == writers.end() || *place != item) writers.insert(place, item);
}

}  // namespace

void link(Program& program) {
  Memory memory(program.buffers.size() * 2);
  auto const at = [&](Access const& access, int step) -> IntervalMap<Writer>& {
    auto const buffer = static_cast<std::size_t>(access.buffer);
    return memory[2 * buffer + static_cast<std::size_t>(step % program.buffers[buffer].versions)];
  };
  for (Item& item : program.items) {
    for (Access& read : item.reads) read.writers.clear();
  }
  for (Instance const& now : unroll(program, proof_sequence(program), proof_steps(program))) {
    Item& item = program.items[static_cast<std::size_t>(now.item)];
    for (Access& read : item.reads) {
      at(read, now.step).visit(read.first, read.last, [&](auto, auto, Writer const& writer) {
        if (writer.item >= 0) note(read.writers, writer.item);
      });
    }
    for (Access const& write : item.writes) {
      at(write, now.step).assign(write.first, write.last, {now.item});
    }
  }
}

}  // namespace spillway
