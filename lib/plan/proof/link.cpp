#include "plan/proof/link.hpp"

#include <algorithm>

#include "plan/proof/byte_cells.hpp"

namespace spillway {

void link(Program& program) {
  auto const cells = ByteCells::by_buffer(program);
  PerCell<ItemNumber> last_writer(cells, -1);
  for (Item& item : program.items)
    for (Access& read : item.reads) read.writers.clear();
  for (Instance const& now : unroll_for_proof(program)) {
    Item& item = program.items[now.item];
    for (auto read = item.reads.begin(); auto const& range : cells.reads(item, now.step)) {
      for (ItemNumber const writer : last_writer[range])
        if (writer >= 0) insert_once(read->writers, writer);
      ++read;
    }
    for (auto const& range : cells.writes(item, now.step))
      std::ranges::fill(last_writer[range], now.item);
  }
}

}  // namespace spillway
