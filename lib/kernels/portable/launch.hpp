// The two shapes that memory-bound kernels have: every element for itself, and a row at a time.
// Kernels are functors, and these helpers the only callers of Kokkos::parallel_for: the instance is
// always the given one, nothing is allocated, and the inner loop is the one that the machine wants
// (SIMD on CPUs, neighbouring threads on devices).
#pragma once

#include <cstdint>
#include <string>

#include "base/math.hpp"
#include "kernels/portable/space.hpp"

namespace spillway::SPILLWAY_SPACE {

// Labels are made before step 0: a Kokkos label is a std::string, and may allocate.
using Label = std::string;

using RangeIndex = Kokkos::IndexType<std::int64_t>;

// Given, because Kokkos would ask the default instance to choose one, and allocate.
inline constexpr int kChunk = 1;

// functor(i) for every i in [0, n), each a longer piece of sequential work: all of it, whatever the
// team's size.
template <class Functor>
void for_each_item(Exec const& exec, Label const& label, std::int64_t n, Functor const& functor) {
  using Policy = Kokkos::RangePolicy<Space, RangeIndex>;
  Policy const all(instance_of(exec), 0, n, Kokkos::ChunkSize(kChunk));
  Kokkos::parallel_for(label, all, functor);
}

// functor(first, last) for disjoint ranges that cover [0, n). How they are cut must not matter.
template <class Functor>
struct RangeOfTile {
  static constexpr std::int64_t tile = kLikeDevice ? 1 : 4096;  // elements
  Functor functor;
  std::int64_t n;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const first = i * tile, last = first + tile;
    functor(first, last < n ? last : n);
  }
};
template <class Functor>
void for_each_range(Exec const& exec, Label const& label, std::int64_t n, Functor const& functor) {
  using Tiles = RangeOfTile<Functor>;
  for_each_item(exec, label, div_ceil(n, Tiles::tile), Tiles{functor, n});
}

// functor(i) for every i in [0, n), independent of each other.
template <class Functor>
struct ElementsOfRange {
  Functor functor;

  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    Functor const f = functor;  // a copy whose pointers no store of the loop can change
#pragma omp simd
    for (std::int64_t i = first; i < last; ++i) f(i);
  }
};
template <class Functor>
void for_each_element(Exec const& exec, Label const& label, std::int64_t n,
                      Functor const& functor) {
  for_each_range(exec, label, n, ElementsOfRange<Functor>{functor});
}

}  // namespace spillway::SPILLWAY_SPACE
