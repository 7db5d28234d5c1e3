// Launches kernels, which are functors. A memory-bound kernel takes each element by itself, with
// the functions below, or a row at a time (rows.hpp). Only these functions call
// Kokkos::parallel_for for kernels: always on the Exec's instance of Space, without allocation, and
// with the inner loop that the machine wants (SIMD on CPUs, neighbouring threads on devices).
#pragma once

#include <cstdint>
#include <string>

#include "base/math.hpp"
#include "kernels/portable/space.hpp"

namespace spillway::SPILLWAY_SPACE {

// Labels are made before step 0, because Kokkos takes them as std::string, which may allocate.
using Label = std::string;

using RangeIndex = Kokkos::IndexType<std::int64_t>;

// Kokkos' chunk size is the number of iterations that a thread takes at a time. It is set because
// Kokkos would otherwise ask the default instance to choose one, which allocates.
inline constexpr int kChunk = 1;

// Returns the policy with the wish that functors, of whatever size, are arguments of their launch.
// Kokkos would copy those of more than 512 bytes to a device's constant memory, and wait on the
// host for the launch before.
template <class Policy>
auto with_functor_as_argument(Policy const& policy) {
  return Kokkos::Experimental::require(policy,
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

// Calls functor(i) for every i in [0, n), whatever the number of threads. Each call runs on one
// thread and should do much work.
template <class Functor>
void for_each_unit(Exec const& exec, Label const& label, std::int64_t n, Functor const& functor) {
  using Policy = Kokkos::RangePolicy<Space, RangeIndex>;
  Policy const all(instance_of(exec), 0, n, Kokkos::ChunkSize(kChunk));
  Kokkos::parallel_for(label, with_functor_as_argument(all), functor);
}

// for_each_range calls functor(first, last) for disjoint ranges that cover [0, n). The result must
// not depend on how [0, n) is cut.
template <class Functor>
struct RangeOfTile {
  static constexpr std::int64_t tile = kLikeDevice ? 1 : 4096;  // in elements
  Functor functor;
  std::int64_t n;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const first = i * tile, last = first + tile;
    // With one element a tile the compiler drops the loop over it.
    functor(first, tile == 1 || last < n ? last : n);
  }
};
template <class Functor>
void for_each_range(Exec const& exec, Label const& label, std::int64_t n, Functor const& functor) {
  using Tiles = RangeOfTile<Functor>;
  for_each_unit(exec, label, div_ceil(n, Tiles::tile), Tiles{functor, n});
}

// for_each_element calls functor(i) for every i in [0, n). No call may depend on another.
template <class Functor>
struct ElementsOfRange {
  Functor functor;

  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    Functor const f = functor;  // a local copy, whose pointers the loop's stores cannot change
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
