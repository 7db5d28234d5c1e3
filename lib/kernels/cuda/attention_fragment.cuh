// A Fragment is what one warp computes of a product. A warp has 16 rows of a product's result. Its
// lanes hold them in groups of 8 columns, as `mma.sync.m16n8k16` does (NVIDIA, PTX ISA, "Matrix
// Fragments for mma.m16n8k16"): element e of group n, in lane l, is in row fragment_row(e) and in
// column fragment_column(n, e).
#pragma once

namespace spillway::cuda {

inline constexpr int kWarpRows = 16;

__device__ inline int lane() {
  return threadIdx.x % 32;
}
__device__ inline int fragment_row(int e) {
  return lane() / 4 + e / 2 * 8;
}
__device__ inline int fragment_column(int n, int e) {
  return 8 * n + lane() % 4 * 2 + e % 2;
}

template <int kColumns>
struct Fragment {
  static constexpr int kGroups = kColumns / 8;
  float x[kGroups][4];

  __device__ void clear() {
    each([](float& value, int, int) { value = 0; });
  }
  // Calls f(element, n, e) for each element that the lane has.
  template <class F>
  __device__ void each(F const& f) {
#pragma unroll
    for (int n = 0; n < kGroups; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) f(x[n][e], n, e);
  }
};

// A strip holds 16 rows of fp32 numbers of one warp in shared memory. Rows lie 4 elements further
// apart than they are long, so that eight of them begin in different banks.
constexpr int strip_stride(int columns) {
  return columns + 4;
}
template <int kColumns>
__device__ void store_strip(float* strip, Fragment<kColumns> const& from) {
#pragma unroll
  for (int n = 0; n < from.kGroups; ++n)
#pragma unroll
    for (int e = 0; e < 4; e += 2)
      *reinterpret_cast<float2*>(strip + fragment_row(e) * strip_stride(kColumns) +
                                 fragment_column(n, 0)) = {from.x[n][e], from.x[n][e + 1]};
}

}  // namespace spillway::cuda
