// attention_backward: FlashAttention-2's equations (Dao, arXiv:2307.08691). With p the weights,
// made again from q, k and the rows' log-sum-exp:
//   delta = rowsum(do * o)   dp = do v^T   ds = p * (dp - delta)
//   dq = scale ds k          dk = scale ds^T q          dv = p^T do
// dq is summed by tiles of queries, dk and dv by tiles of keys, each tile by one thread and in
// order: no atomics, so the same bits every time.
#include <cmath>

#include "kernels/attention_tiles.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/fast_math.hpp"

namespace spillway {
namespace {

Label const label_delta = "spillway::attention_backward delta";
Label const label_dq = "spillway::attention_backward dq";
Label const label_dkv = "spillway::attention_backward dk dv";

// A worker's scratch: six tiles of [side, width] or of its transpose, and two of [side, side].
struct Scratch {
  float* base;
  std::int64_t rows, side;

  static std::int64_t floats(AttentionShape const& s) {
    return 6 * s.side * s.width + 2 * s.side * s.side;
  }
  KOKKOS_FUNCTION float* tile(int i) const { return base + i * rows; }
  KOKKOS_FUNCTION float* weights() const { return base + 6 * rows; }
  KOKKOS_FUNCTION float* slopes() const { return base + 6 * rows + side * side; }
};

template <class T>
struct Operands {
  HeadRows<T const> q, k, v, o;
  float const* lse;
  HeadRows<T const> d_o;
  HeadRows<T> dq, dk, dv;
  float* delta;  // [batch, heads, queries]
  float* scratch;
  std::int64_t scratch_floats;
  AttentionShape shape;

  KOKKOS_FUNCTION Scratch scratch_of(std::int64_t worker) const {
    return {scratch + worker * scratch_floats, shape.side * shape.width, shape.side};
  }
  KOKKOS_FUNCTION std::int64_t row(std::int64_t sequence, std::int64_t head,
                                   std::int64_t query) const {
    return (sequence * shape.heads + head) * shape.queries + query;
  }
  KOKKOS_FUNCTION TileData data(std::int64_t rows, std::int64_t stride) const {
    return {rows, shape.head_size, stride};
  }
};

KOKKOS_INLINE_FUNCTION std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

template <class T>
struct Delta : Operands<T> {
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    auto const& s = this->shape;
    auto const pair = row / s.queries, query = row % s.queries;
    auto const* const o = this->o.at(pair / s.heads, query, pair % s.heads);
    auto const* const d_o = this->d_o.at(pair / s.heads, query, pair % s.heads);
    float sum = 0;
    for (std::int64_t c = 0; c < s.head_size; ++c)
      sum = std::fma(to_float(o[c]), to_float(d_o[c]), sum);
    this->delta[row] = sum;
  }
};

// One item is a tile of queries. Scores are transposed, [keys, queries].
template <class T>
struct QueryGradient : Operands<T> {
  KOKKOS_FUNCTION void operator()(std::int64_t worker, std::int64_t item) const {
    auto const& s = this->shape;
    auto const tiles = s.query_tiles(), pair = item / tiles;
    auto const sequence = pair / s.heads, head = pair % s.heads;
    auto const first = alternating(item % tiles, tiles) * s.tile;
    auto const past = smaller(first + s.tile, s.queries);
    auto const scratch = this->scratch_of(worker);
    float *const q = scratch.tile(0), *const d_o = scratch.tile(1), *const dq = scratch.tile(2);

    load_transposed(this->q.at(sequence, first, head), this->data(past - first, this->q.stride),
                    s.scale, s, q);
    load_transposed(this->d_o.at(sequence, first, head),
                    this->data(past - first, this->d_o.stride), 1, s, d_o);
    clear(dq, s.side * s.width);
    auto const past_key = s.past_key(past - 1);
    for (auto j = s.tile_start(s.first_key(first)); j < past_key; j += s.tile)
      add_keys(scratch, {sequence, head, first, past}, j, smaller(s.tile, past_key - j));
    store_tile(dq, s.scale, s, this->data(past - first, this->dq.stride),
               this->dq.at(sequence, first, head));
  }

 private:
  struct Queries {
    std::int64_t sequence, head, first, past;
  };

  KOKKOS_FUNCTION void add_keys(Scratch const& scratch, Queries const& at, std::int64_t j,
                                std::int64_t keys) const {
    auto const& s = this->shape;
    auto const kv_head = at.head / (s.heads / s.kv_heads);
    float *const k = scratch.tile(3), *const v = scratch.tile(4);
    load_tile(this->k.at(at.sequence, j, kv_head), this->data(keys, this->k.stride), s, k);
    load_tile(this->v.at(at.sequence, j, kv_head), this->data(keys, this->v.stride), s, v);
    float *const weights = scratch.weights(), *const slopes = scratch.slopes();
    TileExtents const scores{s.side, s.side, s.head_size};
    tile_product(RowMajorFactor{k, s.width}, scratch.tile(0), s.side, weights, s.side, scores,
                 false);
    tile_product(RowMajorFactor{v, s.width}, scratch.tile(1), s.side, slopes, s.side, scores,
                 false);
    differentiate(scratch, at, j, keys);
    tile_product(ColumnMajorFactor{slopes, s.side}, k, s.width, scratch.tile(2), s.width,
                 {s.side, s.width, keys}, true);
  }

  // slopes = p * (dp - delta), where the scores become p on the way.
  KOKKOS_FUNCTION void differentiate(Scratch const& scratch, Queries const& at, std::int64_t j,
                                     std::int64_t keys) const {
    auto const& s = this->shape;
    auto const rows = at.past - at.first;
    auto const* const row_lse = this->lse + this->row(at.sequence, at.head, at.first);
    auto const* const row_delta = this->delta + this->row(at.sequence, at.head, at.first);
    bool const all = s.first_key(at.past - 1) <= j && j + keys <= s.past_key(at.first);
    for (std::int64_t key = 0; key < keys; ++key) {
      float const* const score = scratch.weights() + key * s.side;
      float* const slope = scratch.slopes() + key * s.side;
#pragma omp simd
      for (std::int64_t i = 0; i < rows; ++i)
        slope[i] = fast_exp(score[i] - row_lse[i]) * (slope[i] - row_delta[i]);
      if (!all)
        hide_outside(slope, rows, s.first_query(j + key) - at.first,
                     s.past_query(j + key) - at.first, 0);
    }
  }
};

// One item is a tile of keys, of all heads of queries that read it. Scores are [queries, keys].
template <class T>
struct KeyGradient : Operands<T> {
  KOKKOS_FUNCTION void operator()(std::int64_t worker, std::int64_t item) const {
    auto const& s = this->shape;
    auto const tiles = s.key_tiles(), pair = item / tiles;
    auto const first = alternating(item % tiles, tiles) * s.tile;
    Keys const at{pair / s.kv_heads, pair % s.kv_heads, first, smaller(first + s.tile, s.keys)};
    auto const rows = at.past - at.first;
    auto const scratch = this->scratch_of(worker);
    load_transposed(this->k.at(at.sequence, first, at.head), this->data(rows, this->k.stride),
                    s.scale, s, scratch.tile(0));
    load_transposed(this->v.at(at.sequence, first, at.head), this->data(rows, this->v.stride), 1, s,
                    scratch.tile(1));
    clear(scratch.tile(2), 2 * s.side * s.width);  // dk and dv

    auto const group = s.heads / s.kv_heads;
    auto const past_query = s.past_query(at.past - 1);
    for (std::int64_t head = at.head * group; head < (at.head + 1) * group; ++head)
      for (auto i = s.tile_start(s.first_query(first)); i < past_query; i += s.tile)
        add_queries(scratch, at, head, i, smaller(s.tile, past_query - i));
    store_tile(scratch.tile(2), s.scale, s, this->data(rows, this->dk.stride),
               this->dk.at(at.sequence, first, at.head));
    store_tile(scratch.tile(3), 1, s, this->data(rows, this->dv.stride),
               this->dv.at(at.sequence, first, at.head));
  }

 private:
  struct Keys {
    std::int64_t sequence, head, first, past;  // head of keys
  };

  KOKKOS_FUNCTION void add_queries(Scratch const& scratch, Keys const& at, std::int64_t head,
                                   std::int64_t i, std::int64_t queries) const {
    auto const& s = this->shape;
    float *const q = scratch.tile(4), *const d_o = scratch.tile(5);
    load_tile(this->q.at(at.sequence, i, head), this->data(queries, this->q.stride), s, q);
    load_tile(this->d_o.at(at.sequence, i, head), this->data(queries, this->d_o.stride), s, d_o);
    float *const weights = scratch.weights(), *const slopes = scratch.slopes();
    TileExtents const scores{s.side, s.side, s.head_size}, sums{s.side, s.width, queries};
    tile_product(RowMajorFactor{q, s.width}, scratch.tile(0), s.side, weights, s.side, scores,
                 false);
    tile_product(RowMajorFactor{d_o, s.width}, scratch.tile(1), s.side, slopes, s.side, scores,
                 false);
    differentiate(scratch, at, head, i, queries);
    tile_product(ColumnMajorFactor{slopes, s.side}, q, s.width, scratch.tile(2), s.width, sums,
                 true);
    tile_product(ColumnMajorFactor{weights, s.side}, d_o, s.width, scratch.tile(3), s.width, sums,
                 true);
  }

  // weights = p and slopes = p * (dp - delta).
  KOKKOS_FUNCTION void differentiate(Scratch const& scratch, Keys const& at, std::int64_t head,
                                     std::int64_t i, std::int64_t queries) const {
    auto const& s = this->shape;
    bool const all = s.first_key(i + queries - 1) <= at.first && at.past <= s.past_key(i);
    auto const columns = at.past - at.first;
    for (std::int64_t query = 0; query < queries; ++query) {
      auto const row = this->row(at.sequence, head, i + query);
      float const lse = this->lse[row], delta = this->delta[row];
      float* const weight = scratch.weights() + query * s.side;
      float* const slope = scratch.slopes() + query * s.side;
      if (!all)
        hide_outside(weight, columns, s.first_key(i + query) - at.first,
                     s.past_key(i + query) - at.first, -INFINITY);
#pragma omp simd
      for (std::int64_t j = 0; j < columns; ++j) {
        weight[j] = fast_exp(weight[j] - lse);
        slope[j] = weight[j] * (slope[j] - delta);
      }
    }
  }
};

// [delta | scratch of every worker]
std::int64_t delta_floats(AttentionShape const& s) {
  return round_up<std::int64_t>(s.batch * s.heads * s.queries, kTileLanes);
}

std::int64_t workspace(KernelContext const& context, Op const& op) {
  auto const s = attention_shape(context, op);
  return (delta_floats(s) + s.workers * Scratch::floats(s)) * size_bytes(DType::f32);
}

template <class T>
Operands<T> operands_of(void* const* p, std::vector<std::int64_t> const& stride,
                        AttentionShape const& s) {
  auto* const workspace = static_cast<float*>(p[9]);
  return {.q = head_rows<T const>(p[0], stride[0], s.queries, s),
          .k = head_rows<T const>(p[1], stride[1], s.keys, s),
          .v = head_rows<T const>(p[2], stride[2], s.keys, s),
          .o = head_rows<T const>(p[3], stride[3], s.queries, s),
          .lse = static_cast<float const*>(p[4]),
          .d_o = head_rows<T const>(p[5], stride[5], s.queries, s),
          .dq = head_rows<T>(p[6], stride[6], s.queries, s),
          .dk = head_rows<T>(p[7], stride[7], s.keys, s),
          .dv = head_rows<T>(p[8], stride[8], s.keys, s),
          .delta = workspace,
          .scratch = workspace + delta_floats(s),
          .scratch_floats = Scratch::floats(s),
          .shape = s};
}

template <class T>
Launch bind_typed(Op const& op, AttentionShape const& shape) {
  return [stride = row_strides(op), s = shape](Exec const& exec, void* const* p) {
    auto const operands = operands_of<T>(p, stride, s);
    auto const pairs = s.batch * s.heads;
    for_each_item(exec, label_delta, pairs * s.queries, Delta<T>{operands});
    deal_items(exec, label_dq, pairs * s.query_tiles(), s.workers, QueryGradient<T>{operands});
    deal_items(exec, label_dkv, s.batch * s.kv_heads * s.key_tiles(), s.workers,
               KeyGradient<T>{operands});
  };
}

// The same equations in fp64, one row of queries at a time.
template <class T>
struct SerialGradients {
  std::vector<std::int64_t> stride;
  AttentionShape s;

  void operator()(Exec const&, void* const* p) const {
    auto const in = operands_of<T>(p, stride, s);
    auto const floats = static_cast<std::size_t>(s.batch * s.keys * s.kv_heads * s.head_size);
    std::vector<double> dk(floats), dv(floats);
    for (std::int64_t b = 0; b < s.batch; ++b)
      for (std::int64_t h = 0; h < s.heads; ++h)
        for (std::int64_t i = 0; i < s.queries; ++i) add_query(in, b, h, i, dk, dv);
    for (std::int64_t b = 0; b < s.batch; ++b)
      for (std::int64_t j = 0; j < s.keys; ++j)
        for (std::int64_t h = 0; h < s.kv_heads; ++h)
          for (std::int64_t c = 0; c < s.head_size; ++c) {
            auto const at = index(b, j, h, c);
            in.dk.at(b, j, h)[c] = store<T>(static_cast<float>(dk[at]));
            in.dv.at(b, j, h)[c] = store<T>(static_cast<float>(dv[at]));
          }
  }

 private:
  std::size_t index(std::int64_t b, std::int64_t j, std::int64_t h, std::int64_t c) const {
    return static_cast<std::size_t>(((b * s.keys + j) * s.kv_heads + h) * s.head_size + c);
  }
  double dot(T const* a, T const* b) const {
    double sum = 0;
    for (std::int64_t c = 0; c < s.head_size; ++c) sum += double{to_float(a[c])} * to_float(b[c]);
    return sum;
  }
  void add_query(Operands<T> const& in, std::int64_t b, std::int64_t h, std::int64_t i,
                 std::vector<double>& dk, std::vector<double>& dv) const {
    auto const kv = h / s.group();
    auto const *const q = in.q.at(b, i, h), *const d_o = in.d_o.at(b, i, h);
    double const delta = dot(d_o, in.o.at(b, i, h)), lse = in.lse[in.row(b, h, i)];
    std::vector<double> dq(static_cast<std::size_t>(s.head_size));
    for (auto j = s.first_key(i); j < s.past_key(i); ++j) {
      auto const *const k = in.k.at(b, j, kv), *const v = in.v.at(b, j, kv);
      double const weight = std::exp(s.scale * dot(q, k) - lse);
      double const slope = s.scale * weight * (dot(d_o, v) - delta);
      for (std::int64_t c = 0; c < s.head_size; ++c) {
        dq[static_cast<std::size_t>(c)] += slope * to_float(k[c]);
        dk[index(b, j, kv, c)] += slope * to_float(q[c]);
        dv[index(b, j, kv, c)] += weight * to_float(d_o[c]);
      }
    }
    for (std::int64_t c = 0; c < s.head_size; ++c)
      in.dq.at(b, i, h)[c] = store<T>(static_cast<float>(dq[static_cast<std::size_t>(c)]));
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
      [&]<class T>(T) -> Launch { return SerialGradients<T>{row_strides(op), shape}; },
      dtype(context, op.outputs[0]));
}

}  // namespace

Kernel kernel_attention_backward() {
  return {bind, serial, workspace};
}

}  // namespace spillway
