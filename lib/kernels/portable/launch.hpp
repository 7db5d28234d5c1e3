// The two shapes that memory-bound kernels have: every element for itself, and a row at a time.
// Kernels are functors, and these helpers the only callers of Kokkos::parallel_for: the instance is
// always the given one, nothing is allocated, and the inner loop is the one that the machine wants
// (SIMD on CPUs, neighbouring threads on devices).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/math.hpp"
#include "kernels/portable/kernel_space.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway {

// Labels are made before step 0: a Kokkos label is a std::string, and may allocate.
using Label = std::string;

inline constexpr bool kOnHost =
    std::is_same_v<KernelSpace::Instance::memory_space, Kokkos::HostSpace>;
using RangeIndex = Kokkos::IndexType<std::int64_t>;

// Given, because Kokkos would ask the default instance to choose one, and allocate.
inline constexpr int kChunk = 1;

// functor(i) for every i in [0, n), each a longer piece of sequential work: all of it, whatever the
// team's size.
template <class Functor>
void for_each_item(Exec const& exec, Label const& label, std::int64_t n, Functor const& functor) {
  using Policy = Kokkos::RangePolicy<KernelSpace::Instance, RangeIndex>;
  auto const& space = exec.space().instance;
  Kokkos::parallel_for(label, Policy(space, 0, n, Kokkos::ChunkSize(kChunk)), functor);
}

// The same with work that devices cannot run: for ops that refuse to bind for one.
template <class Work>
void for_each_host_item(Exec const& exec, Label const& label, std::int64_t n, Work const& work) {
  if constexpr (kOnHost) {
    for_each_item(exec, label, n, work);
  } else {
    Kokkos::abort("this work is for hosts");
  }
}

// work(worker, item) for all items, begun in order; which worker takes which must not matter.
// Returns when all are done: for host execution spaces. Throws Error(device) if fewer threads than
// the Exec's have worked.
template <class Work>
void deal_items(Exec const& exec, Label const& label, std::int64_t items, std::int64_t workers,
                Work const& work) {
  std::atomic<std::int64_t> next{0};
  auto team = std::int64_t{exec.concurrency()};
  for_each_host_item(exec, label, std::min(items, workers),
                     [&next, &team, &work, items](std::int64_t worker) {
                       if (worker == 0) team = size_of_this_team();
                       for (auto item = next.fetch_add(1); item < items; item = next.fetch_add(1))
                         work(worker, item);
                     });
  require_whole_team(team, exec.concurrency());
}

// functor(first, last) for disjoint ranges that cover [0, n). How they are cut must not matter.
template <class Functor>
struct RangeOfTile {
  static constexpr std::int64_t tile = kOnHost ? 4096 : 1;  // elements
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

}  // namespace spillway
