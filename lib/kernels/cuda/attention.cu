// The op `attention` computes o = softmax(scale q k^T + bias) v for each head, over the keys that a
// query sees. It works by tiles with an online softmax (Dao, FlashAttention-2, arXiv:2307.08691),
// and keeps the log-sum-exp of every row for the backward pass.
#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/attention_dropout.cuh"
#include "kernels/cuda/attention_pass.cuh"
#include "kernels/cuda/attention_rows.cuh"
#include "kernels/cuda/attention_scores.cuh"

namespace spillway::cuda {
namespace {

// The running maximum of a row's scores begins with this number. It is finite, so that a difference
// of two maxima is never NaN.
constexpr float kLowest = -1e30f;

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

// Sums over the four lanes that have a row, or takes their maximum.
__device__ float sum_of_row(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}
__device__ float largest_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

// The softmax of 16 rows, of which a lane has two: rows fragment_row(0) and fragment_row(2).
struct OnlineSoftmax {
  float top[2] = {kLowest, kLowest};  // running maxima of the exponents
  float sum[2] = {0, 0};              // of the lane's own weights

  // Turns scores into weights 2^(factor * score - top), and scales the sums to the new maxima.
  template <int kColumns, int kWidth>
  __device__ void weigh(Fragment<kColumns>& scores, float factor, Fragment<kWidth>& o) {
    float shrink[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = top[half];
#pragma unroll
      for (int n = 0; n < scores.kGroups; ++n)
        largest = fmaxf(largest, factor * fmaxf(scores.x[n][2 * half], scores.x[n][2 * half + 1]));
      largest = largest_of_row(largest);
      shrink[half] = exp2_approximate(top[half] - largest);
      top[half] = largest;
      sum[half] *= shrink[half];
    }
    scores.each([&](float& x, int, int e) {
      x = exp2_approximate(fmaf(factor, x, -top[e / 2]));
      sum[e / 2] += x;
    });
    o.each([&](float& x, int, int e) { x *= shrink[e / 2]; });
  }
};

template <class T, int kWidth>
__global__ void __launch_bounds__(SizesOf<T, kWidth>::kThreads) attend(ForwardOperands<T> const a) {
  using Sizes = SizesOf<T, kWidth>;
  using Tile = SharedTile<T, kWidth>;
  constexpr int kResident = Sizes::kResident, kStreamed = Sizes::kStreamed;
  extern __shared__ uint4 shared[];
  auto* const memory = reinterpret_cast<std::byte*>(shared);
  constexpr int kStageBytes = 2 * Tile::bytes(kStreamed);
  Tile const q{memory};
  auto const k_at = [&](int stage) {
    return Tile{memory + Tile::bytes(kResident) + stage * kStageBytes};
  };
  auto const v_at = [&](int stage) { return Tile{k_at(stage).data + Tile::bytes(kStreamed)}; };
  int const warp = threadIdx.x / 32;
  auto* const strip = reinterpret_cast<float*>(k_at(Sizes::kStages).data) +
                      (Products<T>::kNeedsStrip ? warp * kWarpRows * strip_stride(kStreamed) : 0);

  // The last queries, which see the most keys under a causal mask, come first.
  auto const& s = a.shape;
  int const tiles = (s.queries + kResident - 1) / kResident;
  int const first = (tiles - 1 - static_cast<int>(blockIdx.x % tiles)) * kResident;
  int const pair = blockIdx.x / tiles, sequence = pair / s.heads, head = pair % s.heads;
  Rows const rows{first, min(first + kResident, s.queries)};
  HeadScores const scores(a.scores, s, sequence, head, a.positions ? *a.positions : 0);
  HeadDropout const dropout(a.dropout, sequence, head);

  auto const seen = s.keys_of(rows, scores.origin);
  auto const keys_of_step = [&](int step) {
    return Rows{step * kStreamed, min((step + 1) * kStreamed, seen.past)};
  };
  Rows const steps{seen.first / kStreamed, (seen.past + kStreamed - 1) / kStreamed};
  SegmentRange own;
  if (scores.segments_q) own = segments_of(scores.segments_q, rows);
  auto const next = [&](int step) {
    if (scores.segments_q)
      while (step < steps.past && !own.meets(segments_of(scores.segments_k, keys_of_step(step))))
        ++step;
    return step;
  };
  auto const load = [&](int step, int stage) {
    auto const keys = keys_of_step(step);
    int const kv_head = head / s.group();
    load_tile<kStreamed, Sizes::kThreads>(k_at(stage), a.k, sequence, kv_head, keys);
    load_tile<kStreamed, Sizes::kThreads>(v_at(stage), a.v, sequence, kv_head, keys);
  };

  Fragment<kWidth> o;
  o.clear();
  OnlineSoftmax softmax;
  load_tile<kResident, Sizes::kThreads>(q, a.q, sequence, head, rows);
  int const first_query = first + warp * kWarpRows;
  stream_tiles<Sizes::kStages>(steps, next, load, [&](int step, int stage) {
    if (first_query >= s.queries) return;
    auto const keys = keys_of_step(step);
    Fragment<kStreamed> x;
    x.clear();
    Products<T>::add_rows_by_rows(x, q, warp * kWarpRows, k_at(stage), s.head_size);
    bool const none_is_hidden = keys.size() == kStreamed && scores.all_see(rows, keys);
    scores.finish(x, none_is_hidden, [&](int n, int e) {
      return Pair{first_query + fragment_row(e), keys.first + fragment_column(n, e)};
    });
    softmax.weigh(x, scores.factor, o);
    // A softmax divides by the sum of all weights, also of those that are dropped.
    if (dropout.drops)
#pragma unroll
      for (int n = 0; n < x.kGroups; ++n) {
        auto const factors = dropout.of_keys(first_query, keys.first + 8 * n);
#pragma unroll
        for (int e = 0; e < 4; ++e) x.x[n][e] *= factors.x[e];
      }
    Products<T>::add_by_rows(o, x, strip, v_at(stage), 0);
  });

  float by[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float const sum = sum_of_row(softmax.sum[half]);
    bool const blind = sum == 0 && scores.segments_q;  // the query saw no key
    int const query = first_query + fragment_row(2 * half);
    if (lane() % 4 == 0 && query < s.queries)
      a.lse[std::int64_t{pair} * s.queries + query] =
          blind ? infinity() : (softmax.top[half] + log2f(sum)) * kLn2;
    by[half] = blind ? 0 : 1 / sum;
  }
  store_rows(a.o, sequence, head, first_query, 0, o, [&](int e) { return by[e / 2]; });
}

template <class T>
Pass<ForwardOperands<T>> forward_pass(AttentionShape const& s) {
  return with_width(s.head_size, [&]<int kWidth>() -> Pass<ForwardOperands<T>> {
    using Sizes = SizesOf<T, kWidth>;
    return {attend<T, kWidth>,
            std::int64_t{s.batch} * s.heads * div_ceil(s.queries, Sizes::kResident),
            Sizes::kThreads,
            Sizes::tile_bytes(Sizes::kResident) +
                2 * Sizes::kStages * Sizes::tile_bytes(Sizes::kStreamed) +
                (Products<T>::kNeedsStrip ? Sizes::kStripBytes : 0)};
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
        pass.launch(stream_of(exec), with, "attention");
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
