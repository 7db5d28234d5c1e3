// Reads memory on a device, where a thread that uses what it reads at once waits for every number.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace spillway {

// Calls use(read(i)) for `count` successive i, of which all are read before the first is used.
template <int count, class Read, class Use>
KOKKOS_FUNCTION void read_group(std::int64_t first, std::int64_t step, Read const& read,
                                Use const& use) {
  decltype(read(first)) ahead[count];
  for (int k = 0; k < count; ++k) ahead[k] = read(first + k * step);
  for (int k = 0; k < count; ++k) use(ahead[k]);
}

// Takes what is left after groups of 2 kAtOnce, by groups of kAtOnce, kAtOnce / 2, ... 1.
template <int kAtOnce, class Read, class Use>
KOKKOS_FUNCTION void read_rest(std::int64_t first, std::int64_t last, std::int64_t step,
                               Read const& read, Use const& use) {
  if (first + (kAtOnce - 1) * step < last) {
    read_group<kAtOnce>(first, step, read, use);
    first += kAtOnce * step;
  }
  if constexpr (kAtOnce > 1) read_rest<kAtOnce / 2>(first, last, step, read, use);
}

// Calls use(read(i)) for i = first, first + step, ... below `last`, in this order. kAtOnce of them,
// a power of two, are read before the first is used, so that a thread waits for memory once for all
// of them.
template <int kAtOnce, class Read, class Use>
KOKKOS_FUNCTION void read_ahead(std::int64_t first, std::int64_t last, std::int64_t step,
                                Read const& read, Use const& use) {
  for (; first + (kAtOnce - 1) * step < last; first += kAtOnce * step)
    read_group<kAtOnce>(first, step, read, use);
  read_rest<kAtOnce / 2>(first, last, step, read, use);
}

}  // namespace spillway
