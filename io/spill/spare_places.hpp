// Knows which pieces of a spill file have moved away from storage that failed, and where they lie.
#pragma once

#include <cstdint>
#include <vector>

namespace spillway {

// Spare places of `place_bytes` each lie one after the other from offset `first_offset_bytes` on,
// and each is used at most once. A piece is named by the offset where it lay first. Only the
// constructor allocates.
class SparePlaces {
 public:
  SparePlaces(std::int64_t first_offset_bytes, std::int64_t place_bytes, std::int64_t count);

  // Returns the offset where a piece lies, which is its own offset unless it has moved.
  std::int64_t place(std::int64_t offset_bytes) const;
  // Returns the offset at which to write a piece. If move_at_next_write was called for the piece,
  // it moves now.
  std::int64_t place_to_write(std::int64_t offset_bytes);

  // Makes the piece move when it is next written. Returns false if no spare place is left.
  bool move_at_next_write(std::int64_t offset_bytes);

  std::int64_t moved() const { return m_moved; }  // counts the moves of all pieces

 private:
  struct Entry {
    std::int64_t offset_bytes, place_offset_bytes;
    std::int64_t next_offset_bytes;  // where the next write moves the piece; -1 if it does not move
  };
  std::vector<Entry>::iterator find(std::int64_t offset_bytes);

  std::vector<Entry> m_entries;  // sorted by offset_bytes
  std::int64_t m_next_offset_bytes, m_place_bytes, m_left;
  std::int64_t m_moved = 0;
};

}  // namespace spillway
