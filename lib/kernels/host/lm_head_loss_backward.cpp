// The op `lm_head_loss_backward` computes, for some rows at a time, losses and gradients:
//   slopes = scale weight (softmax - onehot)   dx = slopes w   dw (+)= slopes^T x
//   dbias = column sums of slopes
// The rows' contributions to dw and dbias are added in ascending order and in fp32. If dw and dbias
// are bf16, they are rounded once, at the end. Of a
// parameter that is frozen there is no gradient.
#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/host/lm_head.hpp"
#include "kernels/portable/partitions.hpp"

namespace spillway::host {
namespace {

Label const label_rows = "spillway::lm_head_loss_backward rows";
Label const label_bias = "spillway::lm_head_loss_backward bias";
Label const label_round = "spillway::lm_head_loss_backward round";

struct Backward {
  LmHead head;
  MatrixLayout dx, dw;
  DType gradients;         // of dw and dbias
  bool has_dw, has_dbias;  // false if the parameter is frozen
  bool accumulate;         // whether to add to what dw holds

  bool rounds() const { return has_dw && gradients == DType::bf16; }
  // Returns whether slopes have memory of their own. Otherwise they replace the logits.
  bool own_slopes() const { return head.x.dtype == DType::bf16; }
  MatrixLayout slopes(std::int64_t rows) const { return head.vocabulary_rows(head.x.dtype, rows); }
  MatrixLayout sum() const {  // the layout of the fp32 sum for dw, with the strides of dw
    auto sum = dw;
    sum.dtype = DType::f32;
    return sum;
  }
};

Backward backward_of(KernelContext const& context, Op const& op) {
  auto const layout = [&](View const& view) { return matrix_layout(dtype(context, view), view); };
  auto const o = operands<OpKind::lm_head_loss_backward>(op);
  bool const has_dw = is_present(o.dw), has_dbias = is_present(o.dbias);
  auto const type = has_dw || has_dbias ? dtype(context, has_dw ? o.dw : o.dbias) : DType::f32;
  check(!has_dw || type == DType::f32 || is_contiguous(o.dw) || is_contiguous(transposed(o.dw)),
        name(op.kind), kHasGaps);
  return {.head = lm_head(context, op),
          .dx = layout(o.dx),
          .dw = has_dw ? layout(o.dw) : MatrixLayout{},
          .gradients = type,
          .has_dw = has_dw,
          .has_dbias = has_dbias,
          .accumulate = has_dw && is_in_place(op, o.dw)};
}

struct Products {
  RowsProduct logits, dx;
  std::optional<RowsProduct> first_dw, next_dw;

  std::int64_t workspace_bytes() const {
    auto const most = std::max(logits.workspace_bytes(), dx.workspace_bytes());
    if (!first_dw) return most;
    return std::max({most, first_dw->workspace_bytes(), next_dw->workspace_bytes()});
  }
};

Products products(Backward const& b) {
  auto const dx = [&](std::int64_t rows) {
    auto c = b.dx;
    c.rows = rows;
    return MatmulShape{.a = b.slopes(rows), .b = b.head.w, .c = c, .a_zero_padded = b.own_slopes()};
  };
  auto const dw = [&](bool add) {
    return [&b, add](std::int64_t rows) {
      auto x = b.head.x;
      x.rows = rows;
      return MatmulShape{.a = b.slopes(rows).transposed(), .b = x, .c = b.sum(), .accumulate = add};
    };
  };
  Products result{logits_product(b.head), {b.head, dx}, {}, {}};
  if (!b.has_dw) return result;
  bool const add_first = b.accumulate && !b.rounds();
  result.first_dw.emplace(b.head, dw(add_first));
  result.next_dw.emplace(b.head, dw(true));
  return result;
}

// Holds byte offsets in the workspace. The scratch of the products comes last.
struct Offsets {
  std::int64_t slopes, sum, bias_sums, scratch;  // the shape of bias_sums is [portions(), vocab]
};

Offsets offsets(Backward const& b) {
  auto const aligned = [](std::int64_t bytes) { return round_up<std::int64_t>(bytes, 64); };
  auto const logits = b.head.portion_bytes(DType::f32);
  auto const slopes = b.own_slopes() ? b.head.portion_bytes(DType::bf16) : 0;
  auto const sum = b.rounds() ? aligned(b.head.vocab * b.head.hidden * size_bytes(DType::f32)) : 0;
  auto const bias_sums =
      b.has_dbias ? aligned(b.head.portions() * b.head.vocab * size_bytes(DType::f32)) : 0;
  return {b.own_slopes() ? logits : 0, logits + slopes, logits + slopes + sum,
          logits + slopes + sum + bias_sums};
}

std::int64_t workspace(KernelContext const& context, Op const& op) {
  auto const backward = backward_of(context, op);
  return offsets(backward).scratch + products(backward).workspace_bytes();
}

// Sets dw[i] to sum[i], or to sum[i] + dw[i] if `add` is true, rounded to G.
template <class G>
struct RoundSum {
  float const* sum;
  G* dw;
  bool add;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    dw[i] = store<G>(add ? sum[i] + to_float(dw[i]) : sum[i]);
  }
};

template <class T, class G>
struct LmHeadLossBackward {
  using OpPointers = Pointers<OpKind::lm_head_loss_backward, T, G>;

  Backward b;
  Products product;
  Offsets offset;

  void operator()(Exec const& exec, void* const* operands) const {
    auto const p = OpPointers::of(operands);
    void* const sum = b.rounds() ? in_workspace(p, offset.sum) : p.dw;
    for (std::int64_t m = 0; m < b.head.rows; m += b.head.rows_at_once)
      run_portion(exec, p, m, sum);
    sum_losses(exec, b.head, p.losses, p.weights, p.loss);
    if (b.has_dbias)
      for_each_range(
          exec, label_bias, b.head.vocab,
          AddRows<PartialRows, G>{{bias_sums(p), b.head.vocab}, p.dbias, b.head.portions()});
    if (b.rounds())
      for_each_element(exec, label_round, b.head.vocab * b.head.hidden,
                       RoundSum<G>{static_cast<float const*>(sum), p.dw, b.accumulate});
  }

 private:
  static void* in_workspace(OpPointers const& p, std::int64_t bytes) {
    return static_cast<std::byte*>(p.workspace) + bytes;
  }
  float* bias_sums(OpPointers const& p) const {
    return static_cast<float*>(in_workspace(p, offset.bias_sums));
  }
  void run_portion(Exec const& exec, OpPointers const& p, std::int64_t m, void* sum) const {
    auto const& head = b.head;
    auto const rows = head.rows_from(m);
    auto const* const x = row_at(p.x, head.x, m);
    auto* const logits = static_cast<float*>(p.workspace);
    auto* const slopes = static_cast<T*>(in_workspace(p, offset.slopes));
    void* const scratch = in_workspace(p, offset.scratch);

    product.logits(exec, rows,
                   {.a = x, .b = p.w, .c = logits, .bias = p.bias, .workspace = scratch});
    for_each_row(exec, label_rows, rows,
                 LossRows<T, true>{logits, p.targets + m, p.weights + m, p.losses + m, slopes,
                                   head.vocab, head.row_stride(), head.scale});
    if (b.has_dbias)
      for_each_range(
          exec, label_bias, head.vocab,
          AddRows<MatrixRows<T>, float>{{slopes, head.row_stride()},
                                        bias_sums(p) + m / head.rows_at_once * head.vocab,
                                        rows});
    product.dx(exec, rows,
               {.a = slopes, .b = p.w, .c = row_at(p.dx, b.dx, m), .workspace = scratch});
    if (b.has_dw)
      (*(m == 0 ? product.first_dw : product.next_dw))(
          exec, rows, {.a = slopes, .b = x, .c = sum, .workspace = scratch});
  }
};

Launch bind(KernelContext const& context, Op const& op) {
  auto const b = backward_of(context, op);
  return dispatch(
      [&]<class T, class G>(T, G) -> Launch {
        auto const bound =
            std::make_shared<LmHeadLossBackward<T, G> const>(b, products(b), offsets(b));
        return [bound](Exec const& exec, void* const* p) { (*bound)(exec, p); };
      },
      b.head.x.dtype, b.gradients);
}

// The serial reference of the op `lm_head_loss_backward` computes row by row in fp64.
template <class T, class G>
struct SerialBackward {
  using OpPointers = Pointers<OpKind::lm_head_loss_backward, T, G>;

  Backward b;

  void operator()(Exec const&, void* const* operands) const {
    auto const p = OpPointers::of(operands);
    auto const& head = b.head;
    auto const* const weights = p.weights;
    std::vector<double> dw(static_cast<std::size_t>(head.vocab * head.hidden));
    std::vector<double> softmax(static_cast<std::size_t>(head.vocab)), dbias(softmax.size());
    for (std::int64_t m = 0; m < head.rows; ++m) {
      auto const target = p.targets[m];
      double const loss =
          serial_softmax(head, row_at(p.x, head.x, m), p.w, p.bias, target, softmax.data());
      p.losses[m] = weights[m] == 0 ? 0 : static_cast<float>(weights[m] * loss);
      softmax[static_cast<std::size_t>(target)] -= 1;
      for (auto& slope : softmax) slope = weights[m] == 0 ? 0 : head.scale * weights[m] * slope;
      for (std::size_t v = 0; v < dbias.size(); ++v) dbias[v] += softmax[v];
      differentiate_row(p, m, softmax, dw);
    }
    serial_sum_losses(head, p.losses, weights, p.loss);
    if (b.has_dw) store_dw(p.dw, dw);
    for (std::size_t v = 0; b.has_dbias && v < dbias.size(); ++v)
      p.dbias[v] = store<G>(static_cast<float>(dbias[v]));
  }

 private:
  void differentiate_row(OpPointers const& p, std::int64_t m, std::vector<double> const& slopes,
                         std::vector<double>& dw) const {
    auto const& head = b.head;
    auto const* const x = row_at(p.x, head.x, m);
    auto const* const w = p.w;
    auto* const dx = row_at(p.dx, b.dx, m);
    for (std::int64_t c = 0; c < head.hidden; ++c) {
      double sum = 0;
      for (std::int64_t v = 0; v < head.vocab; ++v) {
        double const slope = slopes[static_cast<std::size_t>(v)];
        sum += slope * to_float(w[v * head.w.row_stride + c * head.w.column_stride]);
        dw[static_cast<std::size_t>(v * head.hidden + c)] +=
            slope * to_float(x[c * head.x.column_stride]);
      }
      dx[c * b.dx.column_stride] = store<T>(static_cast<float>(sum));
    }
  }
  void store_dw(G* out, std::vector<double> const& dw) const {
    for (std::int64_t i = 0; i < std::ssize(dw); ++i) {
      auto const row = i / b.head.hidden, column = i % b.head.hidden;
      auto& to = out[row * b.dw.row_stride + column * b.dw.column_stride];
      to = store<G>(static_cast<float>(dw[static_cast<std::size_t>(i)] +
                                       (b.accumulate ? to_float(to) : 0.0f)));
    }
  }
};

Launch serial(KernelContext const& context, Op const& op) {
  auto const b = backward_of(context, op);
  return dispatch([&]<class T, class G>(T, G) -> Launch { return SerialBackward<T, G>{b}; },
                  b.head.x.dtype, b.gradients);
}

}  // namespace

Kernel kernel_lm_head_loss_backward() {
  return {bind, serial, workspace};
}

}  // namespace spillway::host
