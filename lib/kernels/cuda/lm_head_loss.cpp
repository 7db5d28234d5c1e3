// The op `lm_head_loss` computes the weighted cross-entropy of logits scale (x w^T + bias), some
// rows at a time.
#include <memory>

#include "base/bf16.hpp"
#include "kernels/cuda/lm_head.hpp"
#include "kernels/cuda/loss_rows.hpp"
#include "kernels/cuda/loss_sums.hpp"
#include "kernels/cuda/stream.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/pointers.hpp"

namespace spillway::cuda {
namespace {

template <class T>
struct LmHeadLoss {
  LmHead head;
  RowsProduct product;

  void operator()(Exec const& exec, void* const* operands) const {
    auto const p = Pointers<OpKind::lm_head_loss, T>::of(operands);
    auto const stream = stream_of(exec);
    auto* const logits = static_cast<float*>(p.workspace);
    auto* const scratch = static_cast<std::byte*>(p.workspace) + head.at.scratch;
    for (std::int64_t m = 0; m < head.rows; m += head.rows_at_once) {
      auto const rows = head.rows_from(m);
      product(exec, rows,
              {.a = row_at(p.x, head.x, m), .b = p.w, .c = logits, .workspace = scratch});
      loss_rows<T>(stream, {logits, p.bias, p.targets + m, p.weights + m, p.losses + m, nullptr,
                            rows, head.vocab, head.at.row_stride, head.scale});
    }
    sum_losses(stream, head.rows, p.losses, p.weights, head.add_loss, p.loss);
  }
};

Launch bind(KernelContext const& context, Op const& op) {
  auto const head = lm_head(context, op);
  return dispatch(
      [&]<class T>(T) -> Launch {
        auto const bound = std::make_shared<LmHeadLoss<T> const>(
            head, RowsProduct(head, logits_form(head), context.arithmetic.products));
        return [bound](Exec const& exec, void* const* p) { (*bound)(exec, p); };
      },
      head.x.dtype);
}

}  // namespace

Kernel kernel_lm_head_loss() {
  return {bind, nullptr, nullptr};
}

}  // namespace spillway::cuda
