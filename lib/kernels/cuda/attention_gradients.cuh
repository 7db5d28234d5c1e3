// Contains what the two kernels of attention's backward pass share.
#pragma once

#include "kernels/cuda/attention_dropout.cuh"
#include "kernels/cuda/attention_pass.cuh"
#include "kernels/cuda/attention_products.cuh"
#include "kernels/cuda/attention_rows.cuh"
#include "kernels/cuda/attention_scores.cuh"

namespace spillway::cuda {

// Shared memory holds two resident and two streamed tiles, the latter kStages times.
template <class T, int kWidth>
struct GradientSizes;
template <>
struct GradientSizes<bf16, 64> : BlockSizes<bf16, 64, 64, 2> {};
template <>
struct GradientSizes<bf16, 128> : BlockSizes<bf16, 128, 32, 2> {};
template <>
struct GradientSizes<bf16, 256> : BlockSizes<bf16, 256, 16, 1> {};
template <>
struct GradientSizes<float, 64> : BlockSizes<float, 64, 32, 1> {};
template <>
struct GradientSizes<float, 128> : BlockSizes<float, 128, 16, 1> {};
template <>
struct GradientSizes<float, 256> : BlockSizes<float, 256, 16, 1> {};

// GradientTiles lie in the shared memory of a block in this order: two resident ones, then pairs of
// streamed ones, then what else a kernel needs.
template <class T, int kWidth>
struct GradientTiles {
  using Sizes = GradientSizes<T, kWidth>;
  using Tile = SharedTile<T, kWidth>;
  static constexpr int kBytes =
      2 * Tile::bytes(Sizes::kResident) + 2 * Sizes::kStages * Tile::bytes(Sizes::kStreamed);

  std::byte* memory;

  __device__ Tile resident(int number) const {
    return {memory + number * Tile::bytes(Sizes::kResident)};
  }
  __device__ Tile streamed(int stage, int number) const {
    return {memory + 2 * Tile::bytes(Sizes::kResident) +
            (2 * stage + number) * Tile::bytes(Sizes::kStreamed)};
  }
  __device__ float* rest() const { return reinterpret_cast<float*>(memory + kBytes); }

  __device__ float* strip_of_warp(float* strips) const {
    return strips + threadIdx.x / 32 * kWarpRows * strip_stride(Sizes::kStreamed);
  }

  template <int kRows>
  static __device__ void load(Tile tile, HeadRows<T const> const& from, int sequence, int head,
                              Rows rows) {
    load_tile<kRows, Sizes::kThreads>(tile, from, sequence, head, rows);
  }
};

}  // namespace spillway::cuda
