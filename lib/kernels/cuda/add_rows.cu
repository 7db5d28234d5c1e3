#include "kernels/cuda/add_rows.hpp"

namespace spillway::cuda {
namespace {

constexpr int kThreads = 256;

// A block takes kThreads columns of one row.
__global__ void __launch_bounds__(kThreads) add_to_row(RowsToAdd of) {
  std::int64_t const row = blockIdx.x;
  auto const j = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (j >= of.columns) return;
  auto& at = of.sums[row * of.row_stride + j];
  float sum = at;
  if (of.bias) sum += to_float(of.bias[j]);
  if (of.addend) sum += to_float(of.addend[row * of.addend_stride + j]);
  at = sum;
}

}  // namespace

void add_rows(cudaStream_t stream, RowsToAdd const& of) {
  auto const across = (of.columns + kThreads - 1) / kThreads;
  add_to_row<<<dim3(static_cast<unsigned>(of.rows), static_cast<unsigned>(across)), kThreads, 0,
               stream>>>(of);
}

}  // namespace spillway::cuda
