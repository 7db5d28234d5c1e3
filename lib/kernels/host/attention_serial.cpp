#include <algorithm>
#include <cmath>

#include "kernels/host/attention_tiles.hpp"

namespace spillway::host {
namespace {

template <class T>
struct SerialAttention {
  using OpPointers = Pointers<OpKind::attention, T>;

  AttentionStrides stride;
  AttentionShape shape;

  void operator()(Exec const&, void* const* operands) const {
    auto const p = OpPointers::of(operands);
    auto const s = shape.placed(p.positions);
    for (std::int64_t b = 0; b < s.batch; ++b)
      for (std::int64_t h = 0; h < s.heads; ++h)
        for (std::int64_t i = 0; i < s.queries; ++i) attend(s, p, b, h, i);
  }

 private:
  void attend(AttentionShape const& s, OpPointers const& p, std::int64_t b, std::int64_t h,
              std::int64_t i) const {
    auto const kv = h / s.group();
    auto const* const q = HeadRows<T const>{p.q, stride.q, s.queries, s.head_size}.at(b, i, h);
    HeadRows<T const> const k{p.k, stride.k, s.keys, s.head_size};
    HeadRows<T const> const v{p.v, stride.v, s.keys, s.head_size};
    auto* const o = HeadRows<T>{p.o, stride.o, s.queries, s.head_size}.at(b, i, h);
    auto& lse = p.lse[(b * s.heads + h) * s.queries + i];

    Scores const scores(p, s);
    auto const [first, past] = s.keys_of({i, i + 1});
    std::vector<double> weight;
    for (auto j = first; j < past; ++j) {
      double dot = 0;
      for (std::int64_t c = 0; c < s.head_size; ++c)
        dot += double{to_float(q[c])} * to_float(k.at(b, j, kv)[c]);
      weight.push_back(scores.sees(b, i, j) ? dot * s.scale + scores.bias(h, i, j) : -kInfinity);
    }
    double const top = *std::max_element(weight.begin(), weight.end());
    if (top == -kInfinity) {
      std::fill_n(o, s.head_size, store<T>(0.0f));
      lse = kInfinity;
      return;
    }
    double sum = 0;
    for (auto& w : weight) sum += w = std::exp(w - top);
    WeightDropout const dropout(p.samples, s);
    for (auto j = first; dropout.drops() && j < past; ++j)
      weight[static_cast<std::size_t>(j - first)] *= dropout.factor(dropout.head_key(b, h), i, j);
    for (std::int64_t c = 0; c < s.head_size; ++c) {
      double mean = 0;
      for (auto j = first; j < past; ++j)
        mean += weight[static_cast<std::size_t>(j - first)] / sum * to_float(v.at(b, j, kv)[c]);
      o[c] = store<T>(static_cast<float>(mean));
    }
    lse = static_cast<float>(top + std::log(sum));
  }
};

template <class T>
struct SerialGradients {
  AttentionStrides stride;
  AttentionShape s;

  void operator()(Exec const&, void* const* operands) const {
    auto const p = Pointers<OpKind::attention_backward, T>::of(operands);
    auto const in = gradient_operands<T>(p, stride, s);
    auto const floats = static_cast<std::size_t>(s.batch * s.keys * s.kv_heads * s.head_size);
    Sums sums{std::vector<double>(floats), std::vector<double>(floats),
              std::vector<double>(static_cast<std::size_t>(s.heads * s.distances()))};
    for (std::int64_t b = 0; b < s.batch; ++b)
      for (std::int64_t h = 0; h < s.heads; ++h)
        for (std::int64_t i = 0; i < s.queries; ++i) add_query(in, b, h, i, sums);
    for (std::int64_t b = 0; b < s.batch; ++b)
      for (std::int64_t j = 0; j < s.keys; ++j)
        for (std::int64_t h = 0; h < s.kv_heads; ++h)
          for (std::int64_t c = 0; c < s.head_size; ++c) {
            auto const at = index(b, j, h, c);
            in.dk.at(b, j, h)[c] = store<T>(static_cast<float>(sums.dk[at]));
            in.dv.at(b, j, h)[c] = store<T>(static_cast<float>(sums.dv[at]));
          }
    for (std::size_t e = 0; in.d_bias && e < sums.d_bias.size(); ++e)
      in.d_bias[e] = static_cast<float>(sums.d_bias[e]);
  }

 private:
  struct Sums {
    std::vector<double> dk, dv, d_bias;
  };

  std::size_t index(std::int64_t b, std::int64_t j, std::int64_t h, std::int64_t c) const {
    return static_cast<std::size_t>(((b * s.keys + j) * s.kv_heads + h) * s.head_size + c);
  }
  double dot(T const* a, T const* b) const {
    double sum = 0;
    for (std::int64_t c = 0; c < s.head_size; ++c) sum += double{to_float(a[c])} * to_float(b[c]);
    return sum;
  }
  void add_query(GradientOperands<T> const& in, std::int64_t b, std::int64_t h, std::int64_t i,
                 Sums& sums) const {
    auto const kv = h / s.group();
    auto const *const q = in.q.at(b, i, h), *const d_o = in.d_o.at(b, i, h);
    double const delta = dot(d_o, in.o.at(b, i, h));
    double const lse = in.lse[(b * s.heads + h) * s.queries + i];
    std::vector<double> dq(static_cast<std::size_t>(s.head_size));
    auto const seen = s.keys_of({i, i + 1});
    for (auto j = seen.first; j < seen.past; ++j) {
      if (!in.scores.sees(b, i, j)) continue;
      auto const *const k = in.k.at(b, j, kv), *const v = in.v.at(b, j, kv);
      double const weight = std::exp(s.scale * dot(q, k) + in.scores.bias(h, i, j) - lse);
      double const kept =
          in.dropout.drops() ? in.dropout.factor(in.dropout.head_key(b, h), i, j) : 1;
      double const score_slope = weight * (kept * dot(d_o, v) - delta);
      double const slope = s.scale * score_slope;
      sums.d_bias[static_cast<std::size_t>(h * s.distances() + j - i + s.queries - 1)] +=
          score_slope;
      for (std::int64_t c = 0; c < s.head_size; ++c) {
        dq[static_cast<std::size_t>(c)] += slope * to_float(k[c]);
        sums.dk[index(b, j, kv, c)] += slope * to_float(q[c]);
        sums.dv[index(b, j, kv, c)] += weight * kept * to_float(d_o[c]);
      }
    }
    for (std::int64_t c = 0; c < s.head_size; ++c)
      in.dq.at(b, i, h)[c] = store<T>(static_cast<float>(dq[static_cast<std::size_t>(c)]));
  }
};

template <template <class> class Serial>
Launch serial(KernelContext const& context, Op const& op) {
  auto const shape = attention_shape(context, op);
  return dispatch(
      [&]<class T>(T) -> Launch {
        return Serial<T>{attention_strides(op), shape};
      },
      attention_dtype(context, op));
}

}  // namespace

Launch serial_attention(KernelContext const& context, Op const& op) {
  return serial<SerialAttention>(context, op);
}
Launch serial_attention_backward(KernelContext const& context, Op const& op) {
  return serial<SerialGradients>(context, op);
}

}  // namespace spillway::host
