#include "kernels/cuda/product.hpp"

#include <fmt/core.h>

#include "base/allocator_pass.hpp"
#include "base/check.hpp"
#include "kernels/cuda/stream.hpp"

namespace spillway::cuda {
namespace {

LtAlgorithm chosen(ProductForm const& form, ProductChoices const& choices) {
  auto const shape = text(form);
  auto const found = choices.algorithms.find(shape);
  check(found != choices.algorithms.end(), "a product", "no algorithm was chosen for " + shape);
  auto const algorithm = algorithm_of(found->second);
  check(algorithm.has_value(), "a product", "what was chosen is no algorithm: " + found->second);
  return *algorithm;
}

}  // namespace

Product::Product(std::string name, ProductForm const& form, ProductChoices const& choices)
    : m_name(std::move(name)),
      m_swapped(form.swapped),
      m_has_bias(form.bias_alignment_bytes > 0),
      m_beta(form.accumulate || form.addend ? 1.0f : 0.0f),
      m_algorithm(chosen(form, choices)),
      m_lt(form) {}

// The descriptor holds the address of the bias, which changes where an op has two sets of operands.
void Product::point_to(void const* bias) const {
  if (bias == m_bias) return;
  require(cublasLtMatmulDescSetAttribute(m_lt.matmul.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                         &bias, sizeof bias),
          m_name, "cublasLtMatmulDescSetAttribute");
  m_bias = bias;
}

void Product::operator()(Exec const& exec, MatmulOperands const& operands) const {
  AllocatorPass const pass;  // the library may allocate main memory
  if (m_has_bias) point_to(operands.bias);
  float const alpha = 1;
  auto const* const left = m_swapped ? operands.b : operands.a;
  auto const* const right = m_swapped ? operands.a : operands.b;
  auto const* const added = m_lt.addend ? operands.addend : operands.c;
  auto const bytes = static_cast<std::size_t>(m_algorithm.workspace_bytes);
  require(cublasLtMatmul(lt_handle_of(exec), m_lt.matmul.get(), &alpha, left, m_lt.left.get(),
                         right, m_lt.right.get(), &m_beta, added, m_lt.added(), operands.c,
                         m_lt.result.get(), &m_algorithm.algo,
                         bytes > 0 ? operands.workspace : nullptr, bytes, stream_of(exec)),
          m_name, "cublasLtMatmul");
}

}  // namespace spillway::cuda
