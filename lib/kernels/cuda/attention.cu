// The op `attention` computes o = softmax(scale q k^T + bias) v for each head, over the keys that a
// query sees. It works by tiles with an online softmax (Dao, FlashAttention-2, arXiv:2307.08691),
// and keeps the log-sum-exp of every row for the backward pass.
#include "kernels/cuda/attention.hpp"

#include "kernels/cuda/attention_dropout.cuh"
#include "kernels/cuda/attention_pass.cuh"
#include "kernels/cuda/attention_products.cuh"
#include "kernels/cuda/attention_query_block.cuh"
#include "kernels/cuda/attention_rows.cuh"
#include "kernels/cuda/attention_softmax.cuh"

namespace spillway::cuda {
namespace {

// Shared memory holds a tile of queries and kStages times one of keys and one of values.
template <class T, int kWidth>
struct SizesOf;
template <>
struct SizesOf<bf16, 64> : BlockSizes<bf16, 64, 64, 2> {};
template <>
struct SizesOf<bf16, 128> : BlockSizes<bf16, 128, 64, 2> {};
template <>
struct SizesOf<bf16, 256> : BlockSizes<bf16, 256, 32, 2> {};
template <>
struct SizesOf<float, 64> : BlockSizes<float, 64, 32, 1> {};
template <>
struct SizesOf<float, 128> : BlockSizes<float, 128, 16, 1> {};
template <>
struct SizesOf<float, 256> : BlockSizes<float, 256, 16, 1> {};

// Tiles lie in the shared memory of a block in this order, and then the strips of its warps.
template <class T, int kWidth>
struct Tiles {
  using Sizes = SizesOf<T, kWidth>;
  using Tile = SharedTile<T, kWidth>;
  static constexpr int kStreamedBytes = Tile::bytes(Sizes::kStreamed);
  static constexpr int kBytes = Tile::bytes(Sizes::kResident) + 2 * Sizes::kStages * kStreamedBytes;

  std::byte* memory;

  __device__ Tile q() const { return {memory}; }
  __device__ Tile k(int stage) const {
    return {memory + Tile::bytes(Sizes::kResident) + 2 * stage * kStreamedBytes};
  }
  __device__ Tile v(int stage) const { return {k(stage).data + kStreamedBytes}; }
  __device__ float* strip_of_warp() const {
    return reinterpret_cast<float*>(memory + kBytes) +
           threadIdx.x / 32 * kWarpRows * strip_stride(Sizes::kStreamed);
  }
};

// Writes a warp's rows of o and of the log-sum-exp.
template <class T, int kWidth, int kRows>
__device__ void store_result(ForwardOperands<T> const& a, QueryBlock<kRows> const& block,
                             OnlineSoftmax const& softmax, Fragment<kWidth> const& o) {
  float by[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float const sum = sum_of_row(softmax.sum[half]);
    bool const blind = sum == 0 && a.scores.segments_q;  // the query saw no key
    int const query = block.first_of_warp + fragment_row(2 * half);
    if (lane() % 4 == 0 && query < a.shape.queries)
      a.lse[block.index(query, a.shape)] =
          blind ? infinity() : (softmax.top[half] + log2f(sum)) * kLn2;
    by[half] = blind ? 0 : 1 / sum;
  }
  store_rows(a.o, block.sequence, block.head, block.first_of_warp, 0, o,
             [&](int e) { return by[e / 2]; });
}

template <class T, int kWidth>
__global__ void __launch_bounds__(SizesOf<T, kWidth>::kThreads) attend(ForwardOperands<T> const a) {
  using Sizes = SizesOf<T, kWidth>;
  constexpr int kResident = Sizes::kResident, kStreamed = Sizes::kStreamed;
  Tiles<T, kWidth> const tiles{shared_memory()};
  auto const& s = a.shape;
  QueryBlock<kResident> const block(s);
  int const kv_head = block.head / s.group();
  HeadScores const scores(a.scores, s, block.sequence, block.head, a.positions ? *a.positions : 0);
  HeadDropout const dropout(a.dropout, block.sequence, block.head);
  KeySteps<kStreamed> const steps(scores, block.rows);

  auto const load = [&](int step, int stage) {
    auto const keys = steps.keys(step);
    load_tile<kStreamed, Sizes::kThreads>(tiles.k(stage), a.k, block.sequence, kv_head, keys);
    load_tile<kStreamed, Sizes::kThreads>(tiles.v(stage), a.v, block.sequence, kv_head, keys);
  };
  Fragment<kWidth> o;
  o.clear();
  OnlineSoftmax softmax;
  auto const add_keys = [&](int step, int stage) {
    if (block.first_of_warp >= s.queries) return;
    auto const keys = steps.keys(step);
    Fragment<kStreamed> x;  // has the scores, and then the weights
    x.clear();
    Products<T>::add_rows_by_rows(x, tiles.q(), block.first_of_warp - block.rows.first,
                                  tiles.k(stage), s.head_size);
    finish_scores(x, scores, block, keys);
    softmax.weigh(x, scores.factor, o);
    // A softmax divides by the sum of all weights, also of those that are dropped.
    dropout.drop_keys(x, block.first_of_warp, keys.first);
    Products<T>::add_by_rows(o, x, tiles.strip_of_warp(), tiles.v(stage), 0);
  };

  load_tile<kResident, Sizes::kThreads>(tiles.q(), a.q, block.sequence, block.head, block.rows);
  stream_tiles<Sizes::kStages>(steps, load, add_keys);
  store_result(a, block, softmax, o);
}

template <class T>
Pass<ForwardOperands<T>> forward_pass(AttentionShape const& s) {
  return with_width(s.head_size, [&]<int kWidth>() -> Pass<ForwardOperands<T>> {
    using Sizes = SizesOf<T, kWidth>;
    return {attend<T, kWidth>,
            std::int64_t{s.batch} * s.heads * div_ceil(s.queries, Sizes::kResident),
            Sizes::kThreads,
            Tiles<T, kWidth>::kBytes + (Products<T>::kNeedsStrip ? Sizes::kStripBytes : 0)};
  });
}

template <class T>
Launch bind_typed(KernelContext const& context, Op const& op) {
  auto const s = device_shape(context, op);
  auto const& a = attributes_of<AttentionAttributes>(op);
  auto const o = operands<OpKind::attention>(op);
  ForwardOperands<T> const bound{.shape = s,
                                 .q = head_rows<T const>(o.q, a.queries, s),
                                 .k = head_rows<T const>(o.k, a.keys, s),
                                 .v = head_rows<T const>(o.v, a.keys, s),
                                 .dropout = dropout_operands(a),
                                 .o = head_rows<T>(o.o, a.queries, s)};
  return
      [bound, pass = prepared(forward_pass<T>(s), op.name)](Exec const& exec, void* const* given) {
        auto const p = Pointers<OpKind::attention, T>::of(given);
        auto with = bound;
        with.q.data = p.q;
        with.k.data = p.k;
        with.v.data = p.v;
        with.scores = score_operands(p);
        with.dropout.samples = samples_for(bound.dropout, p.samples);
        with.positions = p.positions;
        with.o.data = p.o;
        with.lse = p.lse;
        pass.launch(stream_of(exec), with);
      };
}

Launch bind(KernelContext const& context, Op const& op) {
  return dispatch([&]<class T>(T) { return bind_typed<T>(context, op); },
                  dtype(context, op.inputs.front()));
}

}  // namespace

Kernel kernel_attention() {
  return {bind, nullptr, nullptr};
}

}  // namespace spillway::cuda
