#include "plan/proof/link.hpp"

#include <algorithm>
#include <span>

#include "plan/data/program.hpp"
#include "plan/proof/byte_cells.hpp"

namespace spillway {

namespace {

void note(std::vector<ItemNumber>& writers, ItemNumber item) {
  auto const place = std::lower_bound(writers.begin(), writers.end(), item);
  if (place == writers.end() || *place != item) writers.insert(place, item);
}

}  // namespace

void link(Program& program) {
  auto const cells = ByteCells::by_buffer(program);
  std::vector<ItemNumber> memory(cells.count(), -1);  // per cell: who wrote it
  auto const at = [&](ByteCells::Range const& range) {
    return std::span(memory).subspan(range.first, range.last - range.first);
  };
  for (Item& item : program.items) {
    for (Access& read : item.reads) read.writers.clear();
  }
  for (Instance const& now : unroll(program, proof_sequence(program), proof_steps(program))) {
    Item& item = program.items[now.item];
    auto const reads = cells.reads(item, now.step);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      for (ItemNumber const writer : at(reads[i])) {
        if (writer >= 0) note(item.reads[i].writers, writer);
      }
    }
    for (auto const& write : cells.writes(item, now.step)) std::ranges::fill(at(write), now.item);
  }
}

}  // namespace spillway
