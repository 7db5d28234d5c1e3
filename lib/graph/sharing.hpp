// Says how ranks part a chunk among them.
#pragma once

#include "base/rank_range.hpp"
#include "graph/gradient_slice.hpp"

namespace spillway {

// `sharers` ranks with consecutive numbers keep a copy of a chunk's state together, each of them a
// slice. There are as many copies as it takes: one if all ranks share the chunk out (ZeRO), several
// if those of each node do (hybrid sharding), and one on every rank if `sharers` is 1. Whatever is
// shared out, each rank sums one slice of the gradient, which is a part of what it keeps, over all
// ranks in their order. So sums, and sums of their squares, have the same bits.
struct Sharing {
  std::int64_t ranks = 1, sharers = 1;  // `sharers` divides `ranks`

  std::int64_t copies() const { return ranks / sharers; }
  // Numbers the slices of a gradient so that those follow each other that lie in what a rank keeps.
  std::int64_t summed_number(std::int64_t rank) const {
    return rank % sharers * copies() + rank / sharers;
  }
  std::int64_t rank_that_sums(std::int64_t number) const {
    return number % copies() * sharers + number / copies();
  }
  Slice summed(std::int64_t elements, std::int64_t rank) const {
    return gradient_slice(elements, summed_number(rank), ranks);
  }
  Slice kept(std::int64_t elements, std::int64_t rank) const {
    auto const most = gradient_slice_elements(elements, ranks) * copies();
    auto const first = std::min(elements, rank % sharers * most);
    return {first, std::min(most, elements - first)};
  }
  // Returns the part of what `rank` keeps that it sums, in elements from the beginning of what it
  // keeps. All ranks have room for `kept(elements, 0).count` elements; those after the end of the
  // chunk belong to no parameter, and are summed as the others are.
  Slice summed_of_kept(std::int64_t elements, std::int64_t rank) const {
    auto const slice = gradient_slice_elements(elements, ranks);
    auto const room = kept(elements, 0).count, first = std::min(room, rank / sharers * slice);
    return {first, std::min(slice, room - first)};
  }
  // Returns the ranks that keep a copy together with `rank`, or those that keep what `rank` keeps.
  RankRange sharers_of(std::int64_t rank) const { return {rank - rank % sharers, sharers, 1}; }
  RankRange keepers_of(std::int64_t rank) const { return {rank % sharers, copies(), sharers}; }

  bool operator==(Sharing const&) const = default;
};

// Returns how many successive elements of its chunk share an element of a state. Chunks, and what
// ranks keep of them, are whole blocks. Parameters and gradients have one for each, and a state
// with parts of its own (State::parts) has no blocks either.
inline std::int64_t block_elements(Chunk const& chunk, std::int64_t ranks, Tensor const& state) {
  if (state.role != Role::moment || !chunk.parts_of(state.id).empty()) return 1;
  auto const kept = Sharing{ranks, chunk.sharers}.kept(chunk.elements, 0).count;
  return kept / element_count(state.shape);
}

}  // namespace spillway
