// Merges are the pairs of tokens that BPE joins, and in which order; only for this folder's
// sources.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace spillway {

struct Merge {
  std::int32_t rank;    // the lower one is done first
  std::int32_t joined;  // the id of what the pair becomes
};

class Merges {
 public:
  // If a pair comes again, the later one holds.
  void add(std::int32_t left, std::int32_t right, Merge merge) {
    m_merges[key(left, right)] = merge;
  }
  Merge const* find(std::int32_t left, std::int32_t right) const {
    auto const found = m_merges.find(key(left, right));
    return found == m_merges.end() ? nullptr : &found->second;
  }

 private:
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
  }

  std::unordered_map<std::uint64_t, Merge> m_merges;
};

// Joins pairs of `ids`, always the one of the lowest rank and of these the leftmost, until there is
// none left. Takes n log n steps for n ids.
void join_all(Merges const& merges, std::vector<std::int32_t>& ids);

}  // namespace spillway
