#include "runtime/cursor.hpp"

namespace spillway {

Cursor::Cursor(Program const& program, std::vector<int> const& sequence, unsigned lanes)
    : m_program(program), m_sequence(sequence), m_lanes(lanes), m_position(program.items.size()) {}

Item const* Cursor::next() {
  for (;;) {
    for (; m_item < m_end; pass()) {
      auto const& item = m_program.items[static_cast<std::size_t>(m_item)];
      if ((m_lanes >> index(item.lane) & 1u) != 0) return &item;
    }
    if (m_segment == m_sequence.size()) return nullptr;
    auto const segment = static_cast<std::size_t>(m_sequence[m_segment++]);
    m_item = m_program.segments[segment].first;
    m_end = m_program.segments[segment].last;
    m_micro_batch = m_next_micro_batch;
    m_next_micro_batch += m_program.segments[segment].micro_batches;
  }
}

// The item is counted only now, because a wait that names the item itself means its previous
// instance.
void Cursor::pass() {
  auto const n = static_cast<std::size_t>(m_item);
  auto const& item = m_program.items[n];
  m_position[n] = ++m_counts[index(item.lane)];
  ++m_item;
  ++m_instance;
}

void Cursor::next_run() {
  ++m_run;
  m_segment = m_instance = 0;
  m_item = m_end = 0;
  m_micro_batch = m_next_micro_batch = 0;
}

}  // namespace spillway
