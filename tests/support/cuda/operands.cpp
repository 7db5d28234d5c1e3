#include "tests/support/cuda/operands.hpp"

#include <algorithm>
#include <utility>

#include "graph/operands.hpp"
#include "kernels/formulas/parameter_ranges.hpp"

namespace spillway::test::cuda {

// Starts with the dimension of the smallest stride and joins the next ones, in rising order of
// their strides, as long as no gap lies between their elements.
std::vector<AddressRange> pieces_of(View const& view, std::int64_t element_bytes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;  // pairs of a stride and an extent
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] != 1) dimensions.emplace_back(view.strides[d], view.shape[d]);
  }
  std::ranges::sort(dimensions);
  std::int64_t run = 1;
  std::vector<std::int64_t> firsts{0};
  for (auto const& [stride, extent] : dimensions) {
    if (stride == run && firsts.size() == 1) {
      run *= extent;
      continue;
    }
    auto const count = firsts.size();
    for (std::int64_t i = 1; i < extent; ++i) {
      for (std::size_t k = 0; k < count; ++k) firsts.push_back(firsts[k] + i * stride);
    }
  }
  std::vector<AddressRange> result;
  for (auto const first : firsts)
    result.push_back({static_cast<std::uintptr_t>(first * element_bytes), run * element_bytes});
  return result;
}

namespace {

Operand operand(KernelContext const& context, View const& view) {
  if (!is_present(view)) return {.present = false};
  auto const& tensor = context.tensors[static_cast<std::size_t>(view.tensor)];
  auto const range = bounding_range(view);
  Operand result{.bytes = (range.last - range.first) * size_bytes(tensor.dtype)};
  if (result.bytes > 0) result.pieces = pieces_of(view, size_bytes(tensor.dtype));
  return result;
}

// Returns what an op on a whole chunk passes over between its parameters.
std::vector<AddressRange> gaps(KernelContext const& context, Op const& op) {
  if (op.chunk < 0) return {};
  auto const elements = context.chunks[static_cast<std::size_t>(op.chunk)].elements;
  auto const& view = op.inputs.front();
  if (view.shape != Shape{elements}) return {};
  auto const bytes = size_bytes(context.tensors[static_cast<std::size_t>(view.tensor)].dtype);
  auto ranges = parameter_ranges(context, op, {});
  ranges.push_back({elements, 0, false});
  std::vector<AddressRange> result;
  std::int64_t end = 0;
  for (auto const& range : ranges) {
    if (range.offset > end)
      result.push_back({static_cast<std::uintptr_t>(end * bytes), (range.offset - end) * bytes});
    end = range.offset + range.count;
  }
  return result;
}

}  // namespace

std::vector<Operand> operands(KernelContext const& context, Op const& op) {
  require_kind(op, op.kind);
  std::vector<Operand> result;
  for (auto const& view : op.inputs) {
    result.push_back(operand(context, view));
    result.back().reads = true;
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    result.push_back(operand(context, op.outputs[i]));
    result.back().writes = true;
    result.back().reads = is_in_place(op, i);
    result.back().fresh = !result.back().reads;
  }
  auto const rows = operand_rows(op.kind);
  for (std::size_t i = 0; i < rows.size(); ++i) result[i].name = rows[i].name;
  if (op.kind == OpKind::accumulate) result[0].gaps = result[1].gaps = gaps(context, op);
  if (op.workspace_bytes > 0) {
    result.push_back({.writes = true,
                      .fresh = true,
                      .bytes = op.workspace_bytes,
                      .pieces = {{0, op.workspace_bytes}}});
  }
  return result;
}

}  // namespace spillway::test::cuda
