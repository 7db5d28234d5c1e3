// An op `matmul` whose operands the stand-in's device reaches, and the reference's result.
#pragma once

#include <random>

#include "base/bf16.hpp"
#include "base/math.hpp"
#include "graph/operands.hpp"
#include "kernels/cuda/choose_products.hpp"
#include "kernels/cuda/matmul_plan.hpp"
#include "kernels/cuda/product.hpp"
#include "kernels/host/kernels.hpp"
#include "tests/support/cuda/cublaslt_exec.hpp"
#include "tests/unit/cuda/cuda_case.hpp"

namespace spillway::test::cuda {

struct ProductCase {
  std::int64_t m, n, k;
  DType in = DType::f32, out = DType::f32;
  bool transposed_a = false, transposed_b = false, transposed_c = false;
  bool bias = false, addend = false;
  // In elements: between rows, and before the first one. The bias and the addend have their own.
  std::int64_t gap = 0, offset = 0, added_gap = 0, added_offset = 0;
};

// The op's tensors lie one after the other in pinned memory, and also, for the reference, in memory
// of the host's own.
class ProductOp {
 public:
  explicit ProductOp(ProductCase const& of, std::uint32_t seed = 1) : m_random(seed) {
    graph.arithmetic.isa = "sm_90";
    Operands<OpKind::matmul> o{.a = matrix(of.in, of.m, of.k, of.transposed_a, of),
                               .b = matrix(of.in, of.k, of.n, of.transposed_b, of),
                               .bias = {},
                               .addend = {},
                               .c = matrix(of.out, of.m, of.n, of.transposed_c, of)};
    if (of.bias) o.bias = vector(of.in, of.n, of.added_offset);
    auto added = of;
    added.gap = of.added_gap;
    added.offset = of.added_offset;
    if (of.addend) o.addend = matrix(of.in, of.m, of.n, of.transposed_c, added);
    op.kind = OpKind::matmul;
    op.name = "a product";
    set_operands(op, o);
    m_plain.assign(m_pinned.at(), m_pinned.at() + m_end);
  }

  KernelContext context() const { return {graph.tensors, graph.chunks, graph.arithmetic}; }
  spillway::cuda::ProductForm form() const {
    return spillway::cuda::matmul_plan(context(), op).form;
  }
  void choose(ProductChoices const& known = {}) {
    graph.arithmetic.products =
        spillway::cuda::choose_products(context(), {&op, 1}, "a GPU", known);
  }
  spillway::cuda::Product product() const { return {op.name, form(), graph.arithmetic.products}; }

  MatmulOperands operands(void* workspace) {
    auto const at = pointers(m_pinned.at());
    return {at[0], at[1], at[4], at[2], at[3], workspace};
  }
  void run_reference() {
    auto const at = pointers(m_plain.data());
    host::kernel(OpKind::matmul).serial(context(), op)(Exec(), at.data());
  }
  // Expects all tensors to have the reference's bytes, and so also nothing in gaps to be touched.
  void expect_reference() {
    run_reference();
    EXPECT_TRUE(std::equal(m_plain.begin(), m_plain.end(), m_pinned.at()));
  }
  float* result() { return static_cast<float*>(pointers(m_pinned.at())[4]); }

  Graph graph;
  Op op;

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  View tensor(DType dtype, std::int64_t elements) {
    Tensor tensor;
    tensor.id = static_cast<TensorId>(graph.tensors.size());
    tensor.dtype = dtype;
    tensor.shape = {elements};
    graph.tensors.push_back(tensor);
    m_first.push_back(m_end);
    for (std::int64_t i = 0; i < elements; ++i) draw(dtype, i);
    m_end = round_up(m_end + static_cast<std::size_t>(tensor.bytes()), std::size_t{64});
    EXPECT_LE(m_end, kBytes);
    return whole(tensor);
  }
  View vector(DType dtype, std::int64_t elements, std::int64_t offset) {
    auto view = tensor(dtype, offset + elements);
    view.offset = offset;
    view.shape = {elements};
    return view;
  }
  View matrix(DType dtype, std::int64_t rows, std::int64_t columns, bool by_columns,
              ProductCase const& of) {
    auto const inner = by_columns ? rows : columns, outer = by_columns ? columns : rows;
    auto const apart = inner + of.gap;
    auto view = tensor(dtype, of.offset + outer * apart);
    view.offset = of.offset;
    view.shape = {rows, columns};
    view.strides =
        by_columns ? std::vector<std::int64_t>{1, apart} : std::vector<std::int64_t>{apart, 1};
    return view;
  }
  // Quarters of small integers: sums of their products are exact in every order.
  void draw(DType dtype, std::int64_t element) {
    auto const value = static_cast<float>(static_cast<int>(m_random() % 17) - 8) / 4;
    auto* const at = m_pinned.at(m_end) + element * size_bytes(dtype);
    auto const half = to_bf16(value);
    if (dtype == DType::bf16) {
      std::memcpy(at, &half, sizeof half);
    } else {
      std::memcpy(at, &value, sizeof value);
    }
  }

  std::vector<void*> pointers(std::byte* base) const {
    std::vector<void*> result;
    for (auto const* views : {&op.inputs, &op.outputs}) {
      for (View const& view : *views) {
        if (!is_present(view)) {
          result.push_back(nullptr);
          continue;
        }
        auto const tensor = static_cast<std::size_t>(view.tensor);
        auto const bytes = view.offset * size_bytes(graph.tensors[view.tensor].dtype);
        result.push_back(base + m_first[tensor] + bytes);
      }
    }
    result.push_back(nullptr);
    return result;
  }

  std::mt19937 m_random;
  PinnedPages m_pinned{kBytes};
  std::vector<std::size_t> m_first;  // where each tensor begins
  std::size_t m_end = 0;
  std::vector<std::byte> m_plain;
};

}  // namespace spillway::test::cuda
