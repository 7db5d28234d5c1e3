// lm_head_loss: the weighted cross-entropy of logits scale (x w^T + bias), a chunk of rows at a
// time.
#include "kernels/dispatch.hpp"
#include "kernels/host/lm_head.hpp"

namespace spillway::host {
namespace {

Label const label = "spillway::lm_head_loss";

// [logits | scratch of the product]
std::int64_t workspace(KernelContext const& context, Op const& op) {
  auto const head = lm_head(context, op);
  return head.chunk_bytes(DType::f32) + logits_product(head).workspace_bytes();
}

template <class T>
struct LmHeadLoss {
  LmHead head;
  ChunkProduct product;

  void operator()(Exec const& exec, void* const* p) const {
    auto const* const x = static_cast<T const*>(p[0]);
    auto const* const weights = static_cast<float const*>(p[3]);
    auto* const losses = static_cast<float*>(p[5]);
    auto* const logits = static_cast<float*>(p[7]);
    auto* const scratch = static_cast<std::byte*>(p[7]) + head.chunk_bytes(DType::f32);
    for (std::int64_t m = 0; m < head.rows; m += head.chunk) {
      auto const rows = head.rows_from(m);
      product(
          exec, rows,
          {.a = row_at(x, head.x, m), .b = p[1], .c = logits, .bias = p[4], .workspace = scratch});
      for_each_row(
          exec, label, rows,
          LossRows<T, false>{logits, static_cast<std::int32_t const*>(p[2]) + m, weights + m,
                             losses + m, nullptr, head.vocab, head.row_stride(), head.scale});
    }
    sum_losses(exec, head, losses, weights, static_cast<double*>(p[6]));
  }
};

Launch bind(KernelContext const& context, Op const& op) {
  auto const head = lm_head(context, op);
  return dispatch(
      [&]<class T>(T) -> Launch {
        auto const bound = std::make_shared<LmHeadLoss<T> const>(head, logits_product(head));
        return [bound](Exec const& exec, void* const* p) { (*bound)(exec, p); };
      },
      dtype(context, op.inputs[0]));
}

template <class T>
Launch serial_typed(LmHead const& head) {
  return [head](Exec const&, void* const* p) {
    auto const* const x = static_cast<T const*>(p[0]);
    auto const* const targets = static_cast<std::int32_t const*>(p[2]);
    auto const* const weights = static_cast<float const*>(p[3]);
    auto* const losses = static_cast<float*>(p[5]);
    std::vector<double> softmax(static_cast<std::size_t>(head.vocab));
    for (std::int64_t m = 0; m < head.rows; ++m) {
      double const loss = serial_softmax(head, row_at(x, head.x, m), static_cast<T const*>(p[1]),
                                         static_cast<T const*>(p[4]), targets[m], softmax.data());
      losses[m] = weights[m] == 0 ? 0 : static_cast<float>(weights[m] * loss);
    }
    serial_sum_losses(head, losses, weights, static_cast<double*>(p[6]));
  };
}

Launch serial(KernelContext const& context, Op const& op) {
  auto const head = lm_head(context, op);
  return dispatch([&]<class T>(T) { return serial_typed<T>(head); }, dtype(context, op.inputs[0]));
}

}  // namespace

Kernel kernel_lm_head_loss() {
  return {bind, serial, workspace};
}

}  // namespace spillway::host
