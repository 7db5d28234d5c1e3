// The op `lm_head_loss` computes the weighted cross-entropy of logits scale (x w^T + bias), some
// rows at a time.
#include "kernels/dispatch.hpp"
#include "kernels/host/lm_head.hpp"

namespace spillway::host {
namespace {

Label const label = "spillway::lm_head_loss";

// The workspace holds the logits of `rows_at_once` rows, then the scratch of the product.
std::int64_t workspace(KernelContext const& context, Op const& op) {
  auto const head = lm_head(context, op);
  return head.portion_bytes(DType::f32) + logits_product(head).workspace_bytes();
}

template <class T>
struct LmHeadLoss {
  LmHead head;
  RowsProduct product;

  void operator()(Exec const& exec, void* const* operands) const {
    auto const p = Pointers<OpKind::lm_head_loss, T>::of(operands);
    auto* const logits = static_cast<float*>(p.workspace);
    auto* const scratch = static_cast<std::byte*>(p.workspace) + head.portion_bytes(DType::f32);
    for (std::int64_t m = 0; m < head.rows; m += head.rows_at_once) {
      auto const rows = head.rows_from(m);
      product(exec, rows,
              {.a = row_at(p.x, head.x, m),
               .b = p.w,
               .c = logits,
               .bias = p.bias,
               .workspace = scratch});
      for_each_row(exec, label, rows,
                   LossRows<T, false>{logits, p.targets + m, p.weights + m, p.losses + m, nullptr,
                                      head.vocab, head.row_stride(), head.scale});
    }
    sum_losses(exec, head, p.losses, p.weights, p.loss);
  }
};

Launch bind(KernelContext const& context, Op const& op) {
  auto const head = lm_head(context, op);
  return dispatch(
      [&]<class T>(T) -> Launch {
        auto const bound = std::make_shared<LmHeadLoss<T> const>(head, logits_product(head));
        return [bound](Exec const& exec, void* const* p) { (*bound)(exec, p); };
      },
      head.x.dtype);
}

template <class T>
Launch serial_typed(LmHead const& head) {
  return [head](Exec const&, void* const* operands) {
    auto const p = Pointers<OpKind::lm_head_loss, T>::of(operands);
    std::vector<double> softmax(static_cast<std::size_t>(head.vocab));
    for (std::int64_t m = 0; m < head.rows; ++m) {
      double const loss =
          serial_softmax(head, row_at(p.x, head.x, m), p.w, p.bias, p.targets[m], softmax.data());
      p.losses[m] = p.weights[m] == 0 ? 0 : static_cast<float>(p.weights[m] * loss);
    }
    serial_sum_losses(head, p.losses, p.weights, p.loss);
  };
}

Launch serial(KernelContext const& context, Op const& op) {
  auto const head = lm_head(context, op);
  return dispatch([&]<class T>(T) { return serial_typed<T>(head); }, head.x.dtype);
}

}  // namespace

Kernel kernel_lm_head_loss() {
  return {bind, serial, workspace};
}

}  // namespace spillway::host
