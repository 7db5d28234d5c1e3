// Which pieces of a spill file have moved away from storage that failed them, and where to.
#pragma once

#include <cstdint>
#include <vector>

namespace spillway {

// Spare places of `place_bytes` each lie one after the other from `first_bytes` on; each is given
// away once. A piece is known by the offset at which its owner believes it to begin. Nothing but
// the constructor allocates.
class SparePlaces {
 public:
  SparePlaces(std::int64_t first_bytes, std::int64_t place_bytes, std::int64_t count);

  // Where a piece lies; its own offset unless it has moved.
  std::int64_t place(std::int64_t offset_bytes) const;
  // The same for a piece that is about to be written anew: one that is to move moves now.
  std::int64_t place_to_write(std::int64_t offset_bytes);

  // The piece moves when it is written next. False when no spare is left.
  bool move_at_next_write(std::int64_t offset_bytes);

  std::int64_t moved() const { return m_moved; }  // so often

 private:
  struct Entry {
    std::int64_t offset_bytes, place_bytes, next_bytes;  // next: -1 for none
  };
  std::vector<Entry>::iterator find(std::int64_t offset_bytes);

  std::vector<Entry> m_entries;  // by offset
  std::int64_t m_next_bytes, m_place_bytes, m_left;
  std::int64_t m_moved = 0;
};

}  // namespace spillway
