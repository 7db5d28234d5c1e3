// Puts tiles of rows into shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bf16.hpp"
#include "kernels/cuda/attention_shape.cuh"

namespace spillway::cuda {

inline constexpr int kChunkBytes = 16;

// A SharedTile has rows of kWidth elements. A row's chunks are permuted by the row's number, so
// that equal chunks of eight successive rows lie in different banks. A tile begins at a multiple of
// 16 bytes.
template <class T, int kWidth>
struct SharedTile {
  static constexpr int kPerChunk = kChunkBytes / int{sizeof(T)};
  static constexpr int kChunks = kWidth / kPerChunk;

  std::byte* data;

  static constexpr int bytes(int rows) { return rows * kWidth * int{sizeof(T)}; }
  __device__ std::byte* chunk(int row, int number) const {
    return data + bytes(row) + ((number ^ (row & 7)) * kChunkBytes);
  }
};

__device__ inline std::byte* shared_memory() {
  extern __shared__ uint4 shared[];
  return reinterpret_cast<std::byte*>(shared);
}
__device__ inline std::uint32_t shared_address(void const* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

// Copies `n` bytes and fills the rest of `kBytes` with zeros, when `wait_for_copies` returns.
template <int kBytes>
__device__ void copy_later(void* to, void const* from, int n) {
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(n)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(n)
                 : "memory");
}
__device__ inline void end_group_of_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits until all groups of copies but the latest ones have ended.
template <int kLatestGroups>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLatestGroups) : "memory");
}

// Returns whether all chunks of a head's rows begin at multiples of 16 bytes and end in the row.
template <class T>
__device__ bool has_whole_chunks(HeadRows<T const> const& rows) {
  auto const bytes = [](std::int64_t elements) { return elements * std::int64_t{sizeof(T)}; };
  auto const all = reinterpret_cast<std::int64_t>(rows.data) | bytes(rows.stride);
  return ((all | bytes(rows.head_size)) & (kChunkBytes - 1)) == 0;
}

template <class T>
__device__ void copy_elements(std::byte* to, T const* from, int n) {
  constexpr int kPerChunk = kChunkBytes / int{sizeof(T)};
  alignas(kChunkBytes) T chunk[kPerChunk];
#pragma unroll
  for (int e = 0; e < kPerChunk; ++e) chunk[e] = e < n ? from[e] : T{};
  *reinterpret_cast<uint4*>(to) = *reinterpret_cast<uint4 const*>(chunk);
}

// Begins to fill kRows rows of a tile with rows of one head. All threads of a block call it
// together. What lies beyond `rows` or beyond the head becomes 0. Copies may end only with
// wait_for_copies().
template <int kRows, int kThreads, class T, int kWidth>
__device__ void load_tile(SharedTile<T, kWidth> tile, HeadRows<T const> const& from, int sequence,
                          int head, Rows rows) {
  constexpr int kChunks = tile.kChunks, kPerChunk = tile.kPerChunk;
  constexpr int kEach = kRows * kChunks / kThreads;  // chunks of a thread
  static_assert(kEach * kThreads == kRows * kChunks);
  T const* const first = from.at(sequence, rows.first, head);
  auto const fill = [&](int c, auto const& copy) {
    int const i = c * kThreads + threadIdx.x, row = i / kChunks, number = i % kChunks;
    int const left = row < rows.size() ? from.head_size - number * kPerChunk : 0;
    int const n = max(min(left, kPerChunk), 0);
    copy(tile.chunk(row, number), n > 0 ? first + row * from.stride + number * kPerChunk : first,
         n);
  };
  if (has_whole_chunks(from)) {
#pragma unroll 4
    for (int c = 0; c < kEach; ++c)
      fill(c, [](std::byte* to, T const* at, int n) {
        copy_later<kChunkBytes>(to, at, n * int{sizeof(T)});
      });
  } else {
#pragma unroll 1
    for (int c = 0; c < kEach; ++c)
      fill(c, [](std::byte* to, T const* at, int n) { copy_elements(to, at, n); });
  }
}

// Calls use(step, stage) for each step of `all`, with the tiles of the step in shared memory.
// all.next(step) returns the first step from `step` on that is not passed over; from
// all.steps.past on there are none. load(step, stage) begins to load tiles. With two stages, a
// step's tiles come during the step before.
template <int kStages, class Steps, class Load, class Use>
__device__ void stream_tiles(Steps const& all, Load const& load, Use const& use) {
  auto const steps = all.steps;
  int step = all.next(steps.first), stage = 0;
  if (kStages == 2 && step < steps.past) load(step, stage);
  end_group_of_copies();
  while (step < steps.past) {
    int const following = all.next(step + 1);
    if constexpr (kStages == 2) {
      if (following < steps.past) load(following, 1 - stage);
    } else {
      load(step, stage);
    }
    end_group_of_copies();
    wait_for_copies<kStages - 1>();
    __syncthreads();
    use(step, stage);
    __syncthreads();
    step = following;
    if constexpr (kStages == 2) stage = 1 - stage;
  }
  wait_for_copies<0>();
}

}  // namespace spillway::cuda
