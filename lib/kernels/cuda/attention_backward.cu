// The op `attention_backward` follows FlashAttention-2 (Dao, arXiv:2307.08691). With p the weights,
// made again from q, k and the rows' log-sum-exp, it computes:
//   delta = rowsum(do * o)   dp = do v^T   ds = p * (dp - delta)
//   dq = scale ds k          dk = scale ds^T q          dv = p^T do
// The gradient of the bias is the sum of ds over equal distances, for all sequences. Dropout
// multiplies dp and the p in the formula of dv by factors, but not the p in the formula of ds.
//
// One kernel computes delta, one dq by tiles of queries, one dk and dv by tiles of keys, and one
// adds the sums of the bias's gradient, which the kernel for dq made for each of its tiles. No two
// threads add to the same number, and all sums run in an order that the shape alone decides.
#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/attention_of_keys.cuh"
#include "kernels/cuda/attention_of_queries.cuh"

namespace spillway::cuda {
namespace {

constexpr int kThreads = 128, kWarps = kThreads / 32;

// Computes delta; a warp takes a row of a head.
template <class T>
__global__ void __launch_bounds__(kThreads) delta_of_rows(BackwardOperands<T> const a) {
  auto const& s = a.shape;
  auto const unit = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  auto const row = unit / s.heads;
  if (row >= std::int64_t{s.batch} * s.queries) return;
  int const head = static_cast<int>(unit % s.heads);
  int const sequence = static_cast<int>(row / s.queries), query = static_cast<int>(row % s.queries);
  T const *const o = a.o.at(sequence, query, head), *const d_o = a.d_o.at(sequence, query, head);
  float sum = 0;
  for (int c = lane(); c < s.head_size; c += 32) sum = fmaf(to_float(d_o[c]), to_float(o[c]), sum);
#pragma unroll
  for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(~0u, sum, other);
  if (lane() == 0) a.delta[(std::int64_t{sequence} * s.heads + head) * s.queries + query] = sum;
}

// Sums what the tiles of queries have summed; a thread takes a distance of a head.
template <class T>
__global__ void __launch_bounds__(kThreads) add_bias_sums(BackwardOperands<T> const a, int rows) {
  auto const& s = a.shape;
  auto const i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= s.heads * s.distances()) return;
  auto const head = i / s.distances(), distance = i % s.distances();
  int const tiles = (s.queries + rows - 1) / rows;
  float sum = 0;
  for (int sequence = 0; sequence < s.batch; ++sequence)
    for (int tile = 0; tile < tiles; ++tile) {
      // Distance 0 has the index s.queries - 1 here, and first query + rows - 1 in a tile's sums.
      auto const at = distance - s.queries + (tile + 1) * rows;
      if (at < 0 || at >= a.sums_per_tile) continue;
      auto const of_head = std::int64_t{sequence} * s.heads + head;
      sum += a.bias_sums[(of_head * tiles + tile) * a.sums_per_tile + at];
    }
  a.d_bias[i] = sum;
}

template <class T>
struct Gradients {
  using Operands = BackwardOperands<T>;

  std::string name;  // is the op's
  Operands bound;    // has no addresses
  AttentionBackwardWorkspace workspace;
  Pass<Operands> of_queries, of_keys;

  Gradients(AttentionShape const& s, Op const& op, AttentionAttributes const& a,
            Operands const& operands, bool sums_bias)
      : name(op.name),
        bound(operands),
        workspace(a, sizeof(T) == 2 ? DType::bf16 : DType::f32, sums_bias),
        of_queries(prepared(pass_of_queries<T>(s, sums_bias), op.name)),
        of_keys(prepared(pass_of_keys<T>(s), op.name)) {
    bound.sums_per_tile = workspace.sums_per_tile;
  }

  void operator()(Exec const& exec, void* const* given) const {
    auto const with = addressed(Pointers<OpKind::attention_backward, T>::of(given));
    auto const& s = bound.shape;
    auto const stream = stream_of(exec);
    auto const rows = std::int64_t{s.batch} * s.queries * s.heads;
    delta_of_rows<T><<<blocks(rows, kWarps), kThreads, 0, stream>>>(with);
    expect_launched(name);
    of_queries.launch(stream, with);
    of_keys.launch(stream, with);
    if (!with.d_bias) return;
    expect_launched(name);
    add_bias_sums<T><<<blocks(s.heads * s.distances(), kThreads), kThreads, 0, stream>>>(
        with, static_cast<int>(workspace.query_rows));
  }

 private:
  static unsigned blocks(std::int64_t units, int per_block) {
    return static_cast<unsigned>(div_ceil<std::int64_t>(units, per_block));
  }

  Operands addressed(Pointers<OpKind::attention_backward, T> const& p) const {
    auto* const parts = static_cast<std::byte*>(p.workspace);
    auto with = bound;
    with.q.data = p.q;
    with.k.data = p.k;
    with.v.data = p.v;
    with.o.data = p.o;
    with.lse = p.lse;
    with.d_o.data = p.d_o;
    with.scores = score_operands(p);
    with.dropout.samples = samples_for(bound.dropout, p.samples);
    with.dq.data = p.dq;
    with.dk.data = p.dk;
    with.dv.data = p.dv;
    with.delta = reinterpret_cast<float*>(parts + workspace.delta);
    with.d_bias = p.ddistance_bias;
    with.bias_sums =
        p.ddistance_bias ? reinterpret_cast<float*>(parts + workspace.bias_sums) : nullptr;
    return with;
  }
};

template <class T>
Launch bind_typed(KernelContext const& context, Op const& op) {
  auto const s = device_shape(context, op);
  auto const& a = attributes_of<AttentionAttributes>(op);
  auto const o = operands<OpKind::attention_backward>(op);
  BackwardOperands<T> const bound{.shape = s,
                                  .q = head_rows<T const>(o.q, a.queries, s),
                                  .k = head_rows<T const>(o.k, a.keys, s),
                                  .v = head_rows<T const>(o.v, a.keys, s),
                                  .o = head_rows<T const>(o.o, a.queries, s),
                                  .d_o = head_rows<T const>(o.d_o, a.queries, s),
                                  .dropout = dropout_operands(a),
                                  .dq = head_rows<T>(o.dq, a.queries, s),
                                  .dk = head_rows<T>(o.dk, a.keys, s),
                                  .dv = head_rows<T>(o.dv, a.keys, s)};
  return Gradients<T>(s, op, a, bound, is_present(o.ddistance_bias));
}

Launch bind(KernelContext const& context, Op const& op) {
  return dispatch([&]<class T>(T) { return bind_typed<T>(context, op); },
                  dtype(context, op.inputs.front()));
}

}  // namespace

Kernel kernel_attention_backward() {
  return {bind, nullptr, nullptr};
}

}  // namespace spillway::cuda
