#include "io/spill/spare_places.hpp"

#include <algorithm>
#include <utility>

namespace spillway {

SparePlaces::SparePlaces(std::int64_t first_offset_bytes, std::int64_t place_bytes,
                         std::int64_t count)
    : m_next_offset_bytes(first_offset_bytes), m_place_bytes(place_bytes), m_left(count) {
  m_entries.reserve(static_cast<std::size_t>(count));
}

std::vector<SparePlaces::Entry>::iterator SparePlaces::find(std::int64_t offset_bytes) {
  return std::ranges::lower_bound(m_entries, offset_bytes, {}, &Entry::offset_bytes);
}

std::int64_t SparePlaces::place(std::int64_t offset_bytes) const {
  auto const found = std::ranges::lower_bound(m_entries, offset_bytes, {}, &Entry::offset_bytes);
  bool const known = found != m_entries.end() && found->offset_bytes == offset_bytes;
  return known ? found->place_offset_bytes : offset_bytes;
}

std::int64_t SparePlaces::place_to_write(std::int64_t offset_bytes) {
  auto const found = find(offset_bytes);
  if (found == m_entries.end() || found->offset_bytes != offset_bytes) return offset_bytes;
  if (found->next_offset_bytes >= 0) {
    found->place_offset_bytes = std::exchange(found->next_offset_bytes, -1);
    ++m_moved;
  }
  return found->place_offset_bytes;
}

bool SparePlaces::move_at_next_write(std::int64_t offset_bytes) {
  auto found = find(offset_bytes);
  bool const known = found != m_entries.end() && found->offset_bytes == offset_bytes;
  if (known && found->next_offset_bytes >= 0) return true;
  if (m_left == 0) return false;
  if (!known) found = m_entries.insert(found, {offset_bytes, offset_bytes, -1});
  found->next_offset_bytes = m_next_offset_bytes;
  m_next_offset_bytes += m_place_bytes;
  --m_left;
  return true;
}

}  // namespace spillway
