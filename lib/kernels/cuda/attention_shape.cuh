// Has the sizes and operands of attention as its kernels on GPUs need them. All of it is plain
// data, which a launch passes by value.
#pragma once

#include <cstdint>

namespace spillway::cuda {

// Stands for the rows `first` to `past` - 1.
struct Rows {
  int first, past;
  __device__ int size() const { return past - first; }
};

struct AttentionShape {
  int batch, queries, keys, heads, kv_heads, head_size;
  int behind, ahead;  // how many keys before and after its own position a query may see
  int places;         // queries have positions in [0, places)
  float scale;

  __host__ __device__ int group() const { return heads / kv_heads; }
  __host__ __device__ std::int64_t distances() const { return std::int64_t{places} + keys - 1; }

  // These return which rows of k the positions of these rows of q let them see, and which rows of q
  // see these rows of k. Row 0 of q is at position `origin`.
  __device__ Rows keys_of(Rows q, int origin) const {
    return {max(q.first + origin - behind, 0), min(q.past + origin + ahead, keys)};
  }
  __device__ Rows queries_of(Rows k) const {
    return {max(k.first - ahead, 0), min(k.past + behind, queries)};
  }
};

// Describes an operand [batch * rows, heads * head_size], which may be columns of a wider matrix.
template <class T>
struct HeadRows {
  T* data;
  std::int64_t stride;  // counts elements from one row to the next
  int rows, head_size;

  __device__ T* at(int sequence, int row, int head) const {
    return data + (std::int64_t{sequence} * rows + row) * stride + head * head_size;
  }
};

// A pointer is null if the op lacks the operand of this name.
struct ScoreOperands {
  std::int32_t const* segments_q = nullptr;  // [batch * queries]
  std::int32_t const* segments_k = nullptr;  // [batch * keys]
  float const* distance_bias = nullptr;      // [heads, distances]
};

struct DropoutOperands {
  std::int64_t const* samples;  // [batch]; null if nothing is dropped
  float p, scale;
  std::uint64_t seed, origin;
};

template <class T>
struct ForwardOperands {
  AttentionShape shape;
  HeadRows<T const> q, k, v;
  ScoreOperands scores = {};
  DropoutOperands dropout;
  std::int32_t const* positions = nullptr;  // begins with that of row 0 of q; null: 0
  HeadRows<T> o;
  float* lse = nullptr;
};

template <class T>
struct BackwardOperands {
  AttentionShape shape;
  HeadRows<T const> q, k, v, o;
  float const* lse = nullptr;
  HeadRows<T const> d_o;
  ScoreOperands scores = {};
  DropoutOperands dropout;
  HeadRows<T> dq, dk, dv;
  float* delta = nullptr;          // is where AttentionBackwardWorkspace says
  float* bias_sums = nullptr;      // is null if the bias has no gradient
  std::int64_t sums_per_tile = 0;  // counts those that a tile has in bias_sums
  float* d_bias = nullptr;
};

}  // namespace spillway::cuda
