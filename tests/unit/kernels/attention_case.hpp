// One attention op and its backward on random operands; q, k and v are columns of one product, as
// are their gradients.
#pragma once

#include <algorithm>

#include "tests/support/kernel_harness.hpp"

namespace spillway::test {

struct AttentionCase {
  KernelHarness h;
  AttentionAttributes a;
  View q, k, v, o, lse, d_o, dq, dk, dv;
  View segments_q, segments_k, bias, d_bias, samples, positions;  // absent until asked for
  double tolerance;  // absolute and relative; bf16: rounded to a neighbour

  AttentionCase(AttentionAttributes const& attributes, DType type, double deviation = 1)
      : a(attributes), tolerance(type == DType::bf16 ? 0x1p-7 : 2e-5) {
    auto const columns_q = a.heads * a.head_size, columns_k = a.kv_heads * a.head_size;
    auto const queries = a.batch * a.queries, keys = a.batch * a.keys;
    auto const split = [&](View& first, View& second, View& third, View const& all) {
      first = columns({all.tensor, 0, {queries, all.shape[1]}, all.strides}, 0, columns_q);
      second = columns({all.tensor, 0, {keys, all.shape[1]}, all.strides}, columns_q, columns_k);
      third = columns({all.tensor, 0, {keys, all.shape[1]}, all.strides}, columns_q + columns_k,
                      columns_k);
    };
    Shape const all{std::max(queries, keys), columns_q + 2 * columns_k};
    split(q, k, v, h.tensor(type, all));
    split(dq, dk, dv, h.tensor(type, all));
    o = h.tensor(type, {queries, columns_q});
    lse = h.tensor(DType::f32, {a.batch, a.heads, a.queries});
    d_o = h.tensor(type, {queries, columns_q});
    for (auto const& view : {k, v, q, d_o}) h.fill_normal(view, deviation);
    h.graph().arithmetic.threads = 2;
  }

  void add_segments(std::vector<double> const& of_queries, std::vector<double> const& of_keys) {
    segments_q = h.tensor(DType::i32, {a.batch * a.queries});
    segments_k = h.tensor(DType::i32, {a.batch * a.keys});
    h.set_all(segments_q, of_queries);
    h.set_all(segments_k, of_keys);
  }
  void add_bias() {
    bias = h.tensor(DType::f32, {a.heads, a.queries + a.keys - 1});
    d_bias = h.tensor(DType::f32, bias.shape);
    h.fill_normal(bias, 1);
  }

  void add_dropout(double p) {
    a.dropout = p;
    a.seed = (std::uint64_t{1} << 40) + 3;
    a.origin = 11;
    samples = h.tensor(DType::i64, {a.batch});
    h.fill_integers(samples, 0, std::int64_t{1} << 40);
  }

  void forward(std::int64_t tile) {
    a.tile = tile;
    h.op(OpKind::attention, {q, k, v, segments_q, segments_k, bias, samples, positions}, {o, lse},
         a);
    h.run(host::kernel(OpKind::attention));
  }
  void backward(std::int64_t tile) {
    a.tile = tile;
    h.op(OpKind::attention_backward, {q, k, v, o, lse, d_o, segments_q, segments_k, bias, samples},
         {dq, dk, dv, d_bias}, a);
    h.run(host::kernel(OpKind::attention_backward));
  }
};

}  // namespace spillway::test
