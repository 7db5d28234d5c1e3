#include "kernels/cuda/loss_sums.hpp"

#include "base/bf16.hpp"
#include "kernels/formulas/sum_lanes.hpp"

namespace spillway::cuda {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffff;

// One warp sums the losses, another one the weights.
__global__ void __launch_bounds__(2 * kWarp)
    sum_of_losses(std::int64_t rows, float const* losses, float const* weights, bool add,
                  double* loss) {
  static_assert(kSumLanes == kWarp);
  int const lane = static_cast<int>(threadIdx.x) % kWarp, which = threadIdx.x / kWarp;
  float const* const values = which == 0 ? losses : weights;
  double sum = 0;
  for (std::int64_t row = lane; row < rows; row += kWarp) sum += double{values[row]};
  for (int width = kWarp / 2; width > 0; width /= 2) sum += __shfl_down_sync(kAllLanes, sum, width);
  if (lane == 0) loss[which] = add ? loss[which] + sum : sum;
}

constexpr int kThreads = 256;  // make a block if they take elements or columns

__device__ std::int64_t element() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}
unsigned blocks(std::int64_t elements) {
  return static_cast<unsigned>((elements + kThreads - 1) / kThreads);
}

template <class From, class To>
__global__ void __launch_bounds__(kThreads)
    sum_of_column(From const* rows, std::int64_t row_stride, std::int64_t count,
                  std::int64_t columns, To* out) {
  auto const j = element();
  if (j >= columns) return;
  float sum = 0;
  for (std::int64_t row = 0; row < count; ++row) sum += to_float(rows[row * row_stride + j]);
  out[j] = store<To>(sum);
}

template <class G>
__global__ void __launch_bounds__(kThreads)
    rounded(float const* sum, std::int64_t elements, bool add, G* dw) {
  auto const i = element();
  if (i < elements) dw[i] = store<G>(add ? sum[i] + to_float(dw[i]) : sum[i]);
}

}  // namespace

void sum_losses(cudaStream_t stream, std::int64_t rows, float const* losses, float const* weights,
                bool add, double* loss) {
  sum_of_losses<<<1, 2 * kWarp, 0, stream>>>(rows, losses, weights, add, loss);
}

template <class From, class To>
void sum_columns(cudaStream_t stream, From const* rows, std::int64_t row_stride, std::int64_t count,
                 std::int64_t columns, To* out) {
  sum_of_column<<<blocks(columns), kThreads, 0, stream>>>(rows, row_stride, count, columns, out);
}
template void sum_columns(cudaStream_t, float const*, std::int64_t, std::int64_t, std::int64_t,
                          float*);
template void sum_columns(cudaStream_t, float const*, std::int64_t, std::int64_t, std::int64_t,
                          bf16*);
template void sum_columns(cudaStream_t, bf16 const*, std::int64_t, std::int64_t, std::int64_t,
                          float*);

template <class G>
void round_sum(cudaStream_t stream, float const* sum, std::int64_t elements, bool add, G* dw) {
  rounded<<<blocks(elements), kThreads, 0, stream>>>(sum, elements, add, dw);
}
template void round_sum(cudaStream_t, float const*, std::int64_t, bool, float*);
template void round_sum(cudaStream_t, float const*, std::int64_t, bool, bf16*);

}  // namespace spillway::cuda
