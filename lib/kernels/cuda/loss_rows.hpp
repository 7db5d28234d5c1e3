// Computes losses, and derivatives with respect to logits, of rows of logits that a product has
// made.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace spillway::cuda {

// Row r of `products` holds x w^T without bias, and logits are scale (products + bias). The loss of
// a row is weight (logsumexp(logits) - logits[target]), or 0 if its weight is 0, whatever its
// products are. T is float or bf16.
template <class T>
struct LossRows {
  float const* products;        // [rows, row_stride], aligned to 16 bytes as row_stride is
  T const* bias;                // [vocab]; null if there is none
  std::int32_t const* targets;  // [rows]; where the weight is not 0, they are in [0, vocab)
  float const* weights;         // [rows]
  float* losses;                // [rows]
  // Receives scale weight (softmax(logits) - onehot(target)), the derivatives with respect to
  // products, in rows of row_stride elements. It may be `products`, and null if nobody wants it.
  T* slopes;
  std::int64_t rows, vocab, row_stride;
  float scale;
};
// Puts the losses of some rows into the stream. A block of threads takes a row. The largest logit
// and the sum of exponentials are found in one pass (Milakov and Gimelshein, arXiv:1805.02867), in
// an order that the vocabulary decides.
template <class T>
void loss_rows(cudaStream_t stream, LossRows<T> const& of);

}  // namespace spillway::cuda
