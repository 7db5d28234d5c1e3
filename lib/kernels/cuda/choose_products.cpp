#include "kernels/cuda/choose_products.hpp"

#include <stdexcept>

#include "base/allocator_pass.hpp"
#include "base/check.hpp"
#include "graph/mlp_tiles.hpp"
#include "graph/target.hpp"
#include "kernels/cuda/algorithm.hpp"
#include "kernels/cuda/lm_head.hpp"
#include "kernels/cuda/lt_objects.hpp"
#include "kernels/cuda/matmul_plan.hpp"

namespace spillway::cuda {
namespace {

void append(std::vector<ProductForm>& all, std::vector<ProductForm> more) {
  all.insert(all.end(), more.begin(), more.end());
}

// The algorithm does not depend on whether a product is added to what is there, so `dw` needs one.
std::vector<ProductForm> backward_forms(LmHeadBackward const& b) {
  auto all = forms(b.head, logits_form(b.head));
  append(all, forms(b.head, dx_form(b)));
  if (b.has_dw) append(all, forms(b.head, dw_form(b, true)));
  return all;
}

std::vector<ProductForm> forms_of_tiles(KernelContext const& context, Op const& op) {
  MlpTiles const tiles(op, context.tensors);
  KernelContext const inner{tiles.tensors(), context.chunks, context.arithmetic, context.rank};
  std::vector<ProductForm> all;
  for (int tile = 0; tile < tiles.count(); ++tile)
    for (Op const& part : tiles.ops(tile)) append(all, product_forms(inner, part));
  return all;
}

// Returns the forms, and adds the op's name to the error if one of them is refused.
std::vector<ProductForm> forms_of(KernelContext const& context, Op const& op) {
  try {
    return product_forms(context, op);
  } catch (std::logic_error const& mistake) {
    throw std::logic_error(op.name + ": " + mistake.what());
  }
}

// Returns the text of the algorithm that is known for the form, or "" if it cannot be taken.
std::string known_algorithm(LtHandle const& handle, ProductForm const& form,
                            ProductChoices const& known, std::int64_t most_bytes) {
  auto const found = known.algorithms.find(text(form));
  if (found == known.algorithms.end()) return "";
  auto const algorithm = algorithm_of(found->second);
  bool const is_good =
      algorithm && algorithm->workspace_bytes <= most_bytes && fits(handle.get(), *algorithm, form);
  return is_good ? found->second : "";
}

}  // namespace

std::vector<ProductForm> product_forms(KernelContext const& context, Op const& op) {
  if (op.kind == OpKind::matmul) return {matmul_plan(context, op).form};
  if (op.kind == OpKind::lm_head_loss) {
    auto const head = lm_head(context, op);
    return forms(head, logits_form(head));
  }
  if (op.kind == OpKind::lm_head_loss_backward)
    return backward_forms(lm_head_backward(context, op));
  if (op.kind == OpKind::mlp || op.kind == OpKind::mlp_backward) return forms_of_tiles(context, op);
  return {};
}

ProductChoices choose_products(KernelContext const& context, std::span<Op const> ops,
                               std::string_view device_name, ProductChoices const& known) {
  auto const architecture = cuda_architecture(context.arithmetic.isa);
  check(architecture.has_value(), context.arithmetic.isa, "is no GPU's architecture");
  auto const most_bytes = cuda_product_bytes(*architecture);
  AllocatorPass const pass;
  LtHandle const handle;
  ProductChoices choices{.made_by = maker_text(device_name)};
  bool const are_of_here = known.made_by == choices.made_by;
  for (auto const& op : ops) {
    for (auto const& form : forms_of(context, op)) {
      auto& algorithm = choices.algorithms[text(form)];
      if (algorithm.empty() && are_of_here)
        algorithm = known_algorithm(handle, form, known, most_bytes);
      if (algorithm.empty())
        algorithm = to_text(find_algorithm(handle.get(), op.name, form, most_bytes));
    }
  }
  return choices;
}

}  // namespace spillway::cuda
