#include "graph/mlp_tiles.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/math.hpp"
#include "graph/flops.hpp"
#include "graph/refuse.hpp"

namespace spillway {
namespace {

bool has_gaps(View const& view) {
  auto const range = bounding_range(view);
  return range.last - range.first != element_count(view.shape);
}

// Returns a view of the same elements as one row. The view must have no gaps.
View flat(View const& view) {
  return {view.tensor, view.offset, {element_count(view.shape)}, {1}};
}

bool fit_each_other(MlpAttributes const& attributes, View const& x, View const& w_in,
                    View const& w_out) {
  for (View const* const view : {&x, &w_in, &w_out}) {
    if (!is_present(*view) || view->shape.size() != 2 || std::ranges::min(view->shape) < 1)
      return false;
  }
  auto const& dropout = attributes.dropout;
  bool const has_samples = dropout.sequence > 0 && x.shape[0] % dropout.sequence == 0;
  return attributes.chunk > 0 && (has_samples || !(dropout.p > 0));
}

template <OpKind kind>
bool fit_each_other(Op const& op) {
  auto const* const attributes = std::get_if<MlpAttributes>(&op.attributes);
  if (attributes == nullptr) return false;
  try {
    auto const all = spillway::operands<kind>(op);
    return fit_each_other(*attributes, all.x, all.w_in, all.w_out);
  } catch (std::logic_error const&) {
    return false;
  }
}

}  // namespace

bool has_tiles(Op const& op) {
  if (op.kind == OpKind::mlp) return fit_each_other<OpKind::mlp>(op);
  return op.kind == OpKind::mlp_backward && fit_each_other<OpKind::mlp_backward>(op);
}

MlpTiles::MlpTiles(Op const& op, std::span<Tensor const> tensors)
    : m_op(op), m_graph_tensors(tensors), m_attributes(attributes_of<MlpAttributes>(op)) {
  if (op.kind == OpKind::mlp) {
    auto const o = spillway::operands<OpKind::mlp>(op);
    m_mlp = {.x = operand(o.x),
             .w_in = operand(o.w_in),
             .bias_in = operand(o.bias_in),
             .w_out = operand(o.w_out),
             .bias_out = operand(o.bias_out),
             .addend = operand(o.addend),
             .samples = operand(o.samples),
             .y = operand(o.y)};
  } else {
    auto const o = spillway::operands<OpKind::mlp_backward>(op);
    m_backward = {.dy = operand(o.dy),
                  .x = operand(o.x),
                  .w_in = operand(o.w_in),
                  .bias_in = operand(o.bias_in),
                  .w_out = operand(o.w_out),
                  .addend = operand(o.addend),
                  .samples = operand(o.samples),
                  .dx = operand(o.dx),
                  .dw_in = operand(o.dw_in),
                  .dbias_in = operand(o.dbias_in),
                  .dw_out = operand(o.dw_out),
                  .dbias_out = operand(o.dbias_out)};
    m_mlp = {.x = m_backward.x,
             .w_in = m_backward.w_in,
             .bias_in = m_backward.bias_in,
             .w_out = m_backward.w_out,
             .samples = m_backward.samples,
             .y = {}};
  }
  m_operands = static_cast<TensorId>(m_tensors.size());
  auto const all_rows = m_mlp.x.shape[0];
  // Random numbers are drawn by sample, so where there are some, no tile has rows of two samples.
  m_rows = m_attributes.dropout.p > 0 ? m_attributes.dropout.sequence : all_rows;
  auto const chunk = round_up(m_attributes.chunk, kDropoutRows);
  m_samples = static_cast<int>(div_exact(all_rows, m_rows));
  m_per_sample = static_cast<int>(div_ceil(m_rows, chunk));
  m_most_rows = std::min(m_rows, chunk);
  make_scratch();
}

View MlpTiles::operand(View const& view) {
  auto const id = static_cast<TensorId>(m_tensors.size());
  m_tensors.push_back(is_present(view) ? m_graph_tensors[static_cast<std::size_t>(view.tensor)]
                                       : Tensor{});
  m_tensors.back().id = id;
  if (!is_present(view)) return view;
  View own = view;
  own.tensor = id;
  return own;
}

View MlpTiles::scratch(char const* name, DType dtype, Shape shape) {
  auto const id = static_cast<TensorId>(m_tensors.size());
  m_tensors.push_back({.id = id,
                       .name = m_op.name + "." + name,
                       .role = Role::workspace,
                       .dtype = dtype,
                       .shape = std::move(shape)});
  return whole(m_tensors.back());
}

View MlpTiles::sum_of(View const& gradient) {
  if (!is_present(gradient)) return {};
  if (m_tensors[gradient.tensor].dtype == DType::f32) return gradient;
  if (has_gaps(gradient))
    refuse_graph(m_op.name, m_tensors[gradient.tensor].name, "has gaps between its elements");
  View sum = gradient;
  sum.tensor = scratch("sum", DType::f32, {element_count(gradient.shape)}).tensor;
  sum.offset = 0;
  return sum;
}

View MlpTiles::partial_sums(View const& gradient) {
  if (!is_present(gradient)) return {};
  return scratch("bias_sums", DType::f32, {count(), gradient.shape[0]});
}

void MlpTiles::make_scratch() {
  auto const dtype = m_tensors[m_mlp.x.tensor].dtype;
  auto const in = m_mlp.w_in.shape[1], inner = m_mlp.w_out.shape[0];
  bool const drops = m_attributes.dropout.p > 0;
  m_between.in = scratch("in", dtype, {m_most_rows, in});
  m_between.active = scratch("active", dtype, {m_most_rows, inner});
  m_between.dropped = drops ? scratch("dropped", dtype, {m_most_rows, inner}) : m_between.active;
  if (m_op.kind == OpKind::mlp) return;
  m_din = scratch("din", dtype, {m_most_rows, in});
  m_dw_in = sum_of(m_backward.dw_in);
  m_dw_out = sum_of(m_backward.dw_out);
  m_dbias_in_sums = partial_sums(m_backward.dbias_in);
  m_dbias_out_sums = partial_sums(m_backward.dbias_out);
}

MlpTiles::Rows MlpTiles::rows(int tile) const {
  auto const sample = tile / m_per_sample;
  auto const first = tile % m_per_sample * m_most_rows;
  return {sample * m_rows + first, std::min(m_most_rows, m_rows - first), sample, first};
}

MlpTiles::Between MlpTiles::between(Rows const& rows) const {
  auto const part = [&](View const& all) { return row_range(all, 0, rows.count); };
  return {part(m_between.in), part(m_between.active), part(m_between.dropped)};
}

template <OpKind kind>
void MlpTiles::append(std::vector<Op>& ops, Operands<kind> const& operands,
                      Attributes attributes) const {
  Op& op = ops.emplace_back();
  set_operands(op, operands);
  op.phase = m_op.phase;
  op.name = m_op.name;
  op.attributes = std::move(attributes);
}

void MlpTiles::append_product(std::vector<Op>& ops, Operands<OpKind::matmul> const& operands,
                              bool adds) const {
  append<OpKind::matmul>(ops, operands);
  ops.back().flops = matmul_flops(operands.a, operands.b);
  if (adds) ops.back().in_place = {0};
}

void MlpTiles::append_dropout(std::vector<Op>& ops, Rows const& rows, View const& x,
                              View const& y) const {
  auto attributes = m_attributes.dropout;
  attributes.sequence = rows.count;
  attributes.first_row = rows.first_of_sample;
  append<OpKind::dropout>(
      ops, {.x = x, .samples = row_range(m_mlp.samples, rows.sample, 1), .y = y}, attributes);
}

void MlpTiles::append_forward(std::vector<Op>& ops, Rows const& rows, Between const& to) const {
  auto const [first, n, sample, first_of_sample] = rows;
  append_product(
      ops, {.a = row_range(m_mlp.x, first, n), .b = m_mlp.w_in, .bias = m_mlp.bias_in, .c = to.in});
  auto const inner = to.active.shape[1];
  ActivationAttributes const form{m_attributes.form};
  if (m_attributes.gated)
    append<OpKind::gated>(
        ops, {.gate = columns(to.in, 0, inner), .up = columns(to.in, inner, inner), .y = to.active},
        form);
  else
    append<OpKind::activation>(ops, {.f = to.in, .g = to.active}, form);
  if (m_attributes.dropout.p > 0) append_dropout(ops, rows, to.active, to.dropped);
}

std::vector<Op> MlpTiles::ops(int tile) const {
  if (m_op.kind == OpKind::mlp_backward) return backward_ops(tile);
  auto const rows = this->rows(tile);
  auto const part = [&](View const& all) {
    return is_present(all) ? row_range(all, rows.first, rows.count) : all;
  };
  auto const middle = between(rows);
  std::vector<Op> ops;
  append_forward(ops, rows, middle);
  append_product(ops, {.a = middle.dropped,
                       .b = m_mlp.w_out,
                       .bias = m_mlp.bias_out,
                       .addend = part(m_mlp.addend),
                       .c = part(m_mlp.y)});
  return ops;
}

// The gradient of what the second product reads takes the place of that, once it is not needed.
std::vector<Op> MlpTiles::backward_ops(int tile) const {
  auto const rows = this->rows(tile);
  auto const part = [&](View const& all) {
    return is_present(all) ? row_range(all, rows.first, rows.count) : all;
  };
  auto const sums = [&](View const& all) {
    return View{all.tensor, all.offset + tile * all.strides[0], {all.shape[1]}, {1}};
  };
  bool const adds = tile > 0;
  auto const middle = between(rows);
  auto const dy = part(m_backward.dy), x = part(m_mlp.x);
  auto const din = row_range(m_din, 0, rows.count);
  std::vector<Op> ops;
  append_forward(ops, rows, middle);
  if (is_present(m_dbias_out_sums))
    append<OpKind::column_sum>(ops, {.dy = dy, .db = sums(m_dbias_out_sums)});
  if (is_present(m_dw_out))
    append_product(ops, {.a = transposed(middle.dropped), .b = dy, .c = m_dw_out}, adds);
  append_product(ops, {.a = dy, .b = transposed(m_mlp.w_out), .c = middle.dropped});
  if (m_attributes.dropout.p > 0) append_dropout(ops, rows, middle.dropped, middle.active);
  auto const inner = middle.active.shape[1];
  ActivationAttributes const form{m_attributes.form};
  if (m_attributes.gated)
    append<OpKind::gated_backward>(ops,
                                   {.gate = columns(middle.in, 0, inner),
                                    .up = columns(middle.in, inner, inner),
                                    .dy = middle.active,
                                    .dgate = columns(din, 0, inner),
                                    .dup = columns(din, inner, inner)},
                                   form);
  else
    append<OpKind::activation_backward>(ops, {.f = middle.in, .dg = middle.active, .df = din},
                                        form);
  if (is_present(m_dbias_in_sums))
    append<OpKind::column_sum>(ops, {.dy = din, .db = sums(m_dbias_in_sums)});
  if (is_present(m_dw_in)) append_product(ops, {.a = transposed(x), .b = din, .c = m_dw_in}, adds);
  append_product(ops, {.a = din,
                       .b = transposed(m_mlp.w_in),
                       .addend = part(m_backward.addend),
                       .c = part(m_backward.dx)});
  return ops;
}

std::vector<Op> MlpTiles::last_ops() const {
  std::vector<Op> ops;
  if (m_op.kind == OpKind::mlp) return ops;
  auto const round = [&](View const& sum, View const& gradient) {
    if (!is_present(gradient) || sum.tensor == gradient.tensor) return;
    append<OpKind::scale>(ops, {.x = flat(sum), .y = flat(gradient)}, ScaleAttributes{1});
  };
  auto const sum_up = [&](View const& sums, View const& gradient) {
    if (is_present(gradient)) append<OpKind::column_sum>(ops, {.dy = sums, .db = gradient});
  };
  round(m_dw_in, m_backward.dw_in);
  round(m_dw_out, m_backward.dw_out);
  sum_up(m_dbias_in_sums, m_backward.dbias_in);
  sum_up(m_dbias_out_sums, m_backward.dbias_out);
  return ops;
}

// The first tile adds to no sums, and the last one of a sample may have fewer rows.
std::vector<MlpTiles::Alike> MlpTiles::alike() const {
  bool const has_rest = m_rows % m_most_rows != 0;
  int const shorter = has_rest ? m_samples : 0, longer = count() - shorter - 1;
  std::vector<Alike> result = {{0, 1}};
  if (longer > 0) result.push_back({has_rest && m_per_sample == 2 ? 2 : 1, longer});
  if (shorter > 0) result.push_back({m_per_sample - 1, shorter});
  return result;
}

}  // namespace spillway
