// The op `lm_head_loss_backward` computes, for some rows at a time, losses and gradients:
//   slopes = scale weight (softmax - onehot)   dx = slopes w   dw (+)= slopes^T x
//   dbias = column sums of slopes
// The portions' contributions to dw and dbias are added in ascending order and in fp32. If dw and
// dbias are bf16, they are rounded once, at the end. Of a
// parameter that is frozen there is no gradient.
#include <memory>
#include <optional>

#include "base/bf16.hpp"
#include "kernels/cuda/lm_head.hpp"
#include "kernels/cuda/loss_rows.hpp"
#include "kernels/cuda/loss_sums.hpp"
#include "kernels/cuda/stream.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/pointers.hpp"

namespace spillway::cuda {
namespace {

struct Products {
  RowsProduct logits, dx;
  std::optional<RowsProduct> first_dw, next_dw;
};

Products products(LmHeadBackward const& b, ProductChoices const& choices) {
  Products result{{b.head, logits_form(b.head), choices}, {b.head, dx_form(b), choices}, {}, {}};
  if (!b.has_dw) return result;
  bool const add_first = b.accumulate && !b.rounds();
  result.first_dw.emplace(b.head, dw_form(b, add_first), choices);
  result.next_dw.emplace(b.head, dw_form(b, true), choices);
  return result;
}

template <class T, class G>
struct Backward {
  using OpPointers = Pointers<OpKind::lm_head_loss_backward, T, G>;

  LmHeadBackward b;
  Products product;

  void operator()(Exec const& exec, void* const* operands) const {
    auto const p = OpPointers::of(operands);
    auto const& head = b.head;
    auto const stream = stream_of(exec);
    for (std::int64_t m = 0; m < head.rows; m += head.rows_at_once) run_portion(exec, p, m);
    sum_losses(stream, head.rows, p.losses, p.weights, head.add_loss, p.loss);
    if (b.bias)
      sum_columns(stream, static_cast<float const*>(in_workspace(p, head.at.bias_sums)), head.vocab,
                  head.portions(), head.vocab, p.dbias);
    if (b.rounds())
      round_sum(stream, static_cast<float const*>(sum(p)), head.vocab * head.hidden, b.accumulate,
                p.dw);
  }

 private:
  static void* in_workspace(OpPointers const& p, std::int64_t bytes) {
    return static_cast<std::byte*>(p.workspace) + bytes;
  }
  void* sum(OpPointers const& p) const {
    return b.rounds() ? in_workspace(p, b.head.at.sum) : p.dw;
  }

  void run_portion(Exec const& exec, OpPointers const& p, std::int64_t m) const {
    auto const& head = b.head;
    auto const stream = stream_of(exec);
    auto const rows = head.rows_from(m), stride = head.at.row_stride;
    auto const* const x = row_at(p.x, head.x, m);
    auto* const logits = static_cast<float*>(p.workspace);
    auto* const slopes = static_cast<T*>(in_workspace(p, head.at.slopes));
    void* const scratch = in_workspace(p, head.at.scratch);

    product.logits(exec, rows, {.a = x, .b = p.w, .c = logits, .workspace = scratch});
    loss_rows<T>(stream, {logits, p.bias, p.targets + m, p.weights + m, p.losses + m, slopes, rows,
                          head.vocab, stride, head.scale});
    if (b.bias) {
      auto* const sums = static_cast<float*>(in_workspace(p, head.at.bias_sums));
      sum_columns(stream, static_cast<T const*>(slopes), stride, rows, head.vocab,
                  sums + m / head.rows_at_once * head.vocab);
    }
    product.dx(exec, rows,
               {.a = slopes, .b = p.w, .c = row_at(p.dx, b.dx, m), .workspace = scratch});
    if (b.has_dw)
      (*(m == 0 ? product.first_dw : product.next_dw))(
          exec, rows, {.a = slopes, .b = x, .c = sum(p), .workspace = scratch});
  }
};

Launch bind(KernelContext const& context, Op const& op) {
  auto const b = lm_head_backward(context, op);
  return dispatch(
      [&]<class T, class G>(T, G) -> Launch {
        auto const bound =
            std::make_shared<Backward<T, G> const>(b, products(b, context.arithmetic.products));
        return [bound](Exec const& exec, void* const* p) { (*bound)(exec, p); };
      },
      b.head.x.dtype, b.gradients);
}

}  // namespace

Kernel kernel_lm_head_loss_backward() {
  return {bind, nullptr, nullptr};
}

}  // namespace spillway::cuda
