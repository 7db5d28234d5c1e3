// attention: o = softmax(scale q k^T + mask) v per head, by tiles and an online softmax (Dao,
// FlashAttention-2, arXiv:2307.08691); the log-sum-exp of every row is kept for the backward pass.
#include <algorithm>
#include <cmath>

#include "kernels/attention_tiles.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/fast_math.hpp"

namespace spillway {
namespace {

Label const label = "spillway::attention";

constexpr float kHidden = -1e30f;  // a masked score: finite, as the difference of two must be

// A worker's scratch. Scores and q are transposed, so that all rows of queries are SIMD lanes.
struct Scratch {
  float *q, *k, *v;           // [head_size, side], [side, width], [side, width]
  float *scores, *o;          // [keys, queries] = [side, side]; [side, width]
  float *top, *sum, *shrink;  // [side]: running maximum, sum of exponentials, this tile's factor

  static std::int64_t floats(AttentionShape const& s) {
    return 4 * s.side * s.width + s.side * s.side + 3 * s.side;
  }
  KOKKOS_FUNCTION static Scratch of(float* p, AttentionShape const& s) {
    auto const rows = s.side * s.width;
    auto* const row_values = p + 4 * rows + s.side * s.side;
    return {p,          p + rows,           p + 2 * rows,           p + 4 * rows, p + 3 * rows,
            row_values, row_values + s.side, row_values + 2 * s.side};
  }
};

template <class T>
struct Attention {
  HeadRows<T const> q, k, v;
  HeadRows<T> o;
  float* lse;
  float* scratch;
  std::int64_t scratch_floats;
  AttentionShape shape;

  // An item is a tile of queries of one head.
  KOKKOS_FUNCTION void operator()(std::int64_t worker, std::int64_t item) const {
    auto const s = Scratch::of(scratch + worker * scratch_floats, shape);
    auto const tiles = shape.query_tiles();
    auto const pair = item / tiles;
    auto const first = alternating(item % tiles, tiles) * shape.tile;
    auto const past = first + shape.tile < shape.queries ? first + shape.tile : shape.queries;
    attend(s, pair / shape.heads, pair % shape.heads, first, past);
  }

 private:
  KOKKOS_FUNCTION void attend(Scratch const& s, std::int64_t sequence, std::int64_t head,
                              std::int64_t first, std::int64_t past) const {
    load_transposed(q.at(sequence, first, head), {past - first, shape.head_size, q.stride},
                    shape.scale, shape, s.q);
    clear(s.o, shape.side * shape.width);
    clear(s.sum, shape.side);
    for (std::int64_t i = 0; i < shape.side; ++i) s.top[i] = kHidden;

    auto const kv_head = head / (shape.heads / shape.kv_heads);
    auto const past_key = shape.past_key(past - 1);
    for (auto j = shape.tile_start(shape.first_key(first)); j < past_key; j += shape.tile) {
      auto const keys = j + shape.tile < past_key ? shape.tile : past_key - j;
      load_tile(k.at(sequence, j, kv_head), {keys, shape.head_size, k.stride}, shape, s.k);
      load_tile(v.at(sequence, j, kv_head), {keys, shape.head_size, v.stride}, shape, s.v);
      add_keys(s, first, past, j, keys);
    }
    finish(s, sequence, head, first, past);
  }

  // One tile of keys: scores, weights, and what they add to o.
  KOKKOS_FUNCTION void add_keys(Scratch const& s, std::int64_t first, std::int64_t past,
                                std::int64_t j, std::int64_t keys) const {
    auto const side = shape.side, width = shape.width;
    tile_product(RowMajorFactor{s.k, width}, s.q, side, s.scores, side,
                 {side, side, shape.head_size}, false);
    mask(s, first, past, j, keys);
    for (std::int64_t i = 0; i < side; i += kTileLanes) weigh(s, i, keys);
    for (std::int64_t i = 0; i < side; ++i)
#pragma omp simd
      for (std::int64_t c = 0; c < width; ++c) s.o[i * width + c] *= s.shrink[i];
    tile_product(ColumnMajorFactor{s.scores, side}, s.v, width, s.o, width, {side, width, keys},
                 true);
  }

  KOKKOS_FUNCTION void mask(Scratch const& s, std::int64_t first, std::int64_t past, std::int64_t j,
                            std::int64_t keys) const {
    if (shape.first_key(past - 1) <= j && j + keys <= shape.past_key(first)) return;
    for (std::int64_t key = 0; key < keys; ++key)
      hide_outside(s.scores + key * shape.side, shape.side, shape.first_query(j + key) - first,
                   shape.past_query(j + key) - first, kHidden);
  }

  // Scores to weights exp(score - top), for the queries [i, i + kTileLanes). A row that has seen no
  // key yet has weights of 1 that its first key shrinks to 0.
  KOKKOS_FUNCTION void weigh(Scratch const& s, std::int64_t i, std::int64_t keys) const {
    float top[kTileLanes], sum[kTileLanes];
    for (int l = 0; l < kTileLanes; ++l) top[l] = s.top[i + l];
    for (std::int64_t key = 0; key < keys; ++key) {
      float const* const score = s.scores + key * shape.side + i;
#pragma omp simd
      for (int l = 0; l < kTileLanes; ++l) top[l] = score[l] > top[l] ? score[l] : top[l];
    }
#pragma omp simd
    for (int l = 0; l < kTileLanes; ++l) {
      s.shrink[i + l] = fast_exp(s.top[i + l] - top[l]);
      sum[l] = s.sum[i + l] * s.shrink[i + l];
    }
    for (std::int64_t key = 0; key < keys; ++key) {
      float* const score = s.scores + key * shape.side + i;
#pragma omp simd
      for (int l = 0; l < kTileLanes; ++l) {
        score[l] = fast_exp(score[l] - top[l]);
        sum[l] += score[l];
      }
    }
    for (int l = 0; l < kTileLanes; ++l) s.top[i + l] = top[l];
    for (int l = 0; l < kTileLanes; ++l) s.sum[i + l] = sum[l];
  }

  KOKKOS_FUNCTION void finish(Scratch const& s, std::int64_t sequence, std::int64_t head,
                              std::int64_t first, std::int64_t past) const {
    auto* const row_lse = lse + (sequence * shape.heads + head) * shape.queries + first;
    for (std::int64_t i = 0; i < past - first; ++i) {
      row_lse[i] = s.top[i] + std::log(s.sum[i]);
      float const share = 1.0f / s.sum[i];
      store_tile(s.o + i * shape.width, share, shape, {1, shape.head_size, o.stride},
                 o.at(sequence, first + i, head));
    }
  }
};

template <class T>
Launch bind_typed(Op const& op, AttentionShape const& shape) {
  return [stride = row_strides(op), s = shape](Exec const& exec, void* const* p) {
    Attention<T> const kernel{.q = head_rows<T const>(p[0], stride[0], s.queries, s),
                              .k = head_rows<T const>(p[1], stride[1], s.keys, s),
                              .v = head_rows<T const>(p[2], stride[2], s.keys, s),
                              .o = head_rows<T>(p[3], stride[3], s.queries, s),
                              .lse = static_cast<float*>(p[4]),
                              .scratch = static_cast<float*>(p[5]),
                              .scratch_floats = Scratch::floats(s),
                              .shape = s};
    deal_items(exec, label, s.batch * s.heads * s.query_tiles(), s.workers, kernel);
  };
}

// The formula in fp64, one row of scores at a time.
template <class T>
struct SerialAttention {
  std::vector<std::int64_t> stride;
  AttentionShape s;

  void operator()(Exec const&, void* const* p) const {
    for (std::int64_t b = 0; b < s.batch; ++b)
      for (std::int64_t h = 0; h < s.heads; ++h)
        for (std::int64_t i = 0; i < s.queries; ++i) attend(p, b, h, i);
  }

 private:
  void attend(void* const* p, std::int64_t b, std::int64_t h, std::int64_t i) const {
    auto const kv = h / s.group();
    auto const* const q = head_rows<T const>(p[0], stride[0], s.queries, s).at(b, i, h);
    auto const k = head_rows<T const>(p[1], stride[1], s.keys, s);
    auto const v = head_rows<T const>(p[2], stride[2], s.keys, s);
    auto* const o = head_rows<T>(p[3], stride[3], s.queries, s).at(b, i, h);

    auto const first = s.first_key(i), past = s.past_key(i);
    std::vector<double> weight;
    for (auto j = first; j < past; ++j) {
      double dot = 0;
      for (std::int64_t c = 0; c < s.head_size; ++c)
        dot += double{to_float(q[c])} * to_float(k.at(b, j, kv)[c]);
      weight.push_back(dot * s.scale);
    }
    double const top = *std::max_element(weight.begin(), weight.end());
    double sum = 0;
    for (auto& w : weight) sum += w = std::exp(w - top);
    for (std::int64_t c = 0; c < s.head_size; ++c) {
      double mean = 0;
      for (auto j = first; j < past; ++j)
        mean += weight[static_cast<std::size_t>(j - first)] / sum * to_float(v.at(b, j, kv)[c]);
      o[c] = store<T>(static_cast<float>(mean));
    }
    static_cast<float*>(p[4])[(b * s.heads + h) * s.queries + i] =
        static_cast<float>(top + std::log(sum));
  }
};

Launch bind(KernelContext const& context, Op const& op) {
  auto const shape = attention_shape(context, op);
  return dispatch([&]<class T>(T) { return bind_typed<T>(op, shape); },
                  dtype(context, op.outputs[0]));
}

Launch serial(KernelContext const& context, Op const& op) {
  auto const shape = attention_shape(context, op);
  return dispatch(
      [&]<class T>(T) -> Launch { return SerialAttention<T>{row_strides(op), shape}; },
      dtype(context, op.outputs[0]));
}

std::int64_t workspace(KernelContext const& context, Op const& op) {
  auto const shape = attention_shape(context, op);
  return shape.workers * Scratch::floats(shape) * size_bytes(DType::f32);
}

}  // namespace

Kernel kernel_attention() {
  return {bind, serial, workspace};
}

}  // namespace spillway
