// Computes a matrix product on a GPU with NVIDIA's library cublasLt.
#pragma once

#include <string>

#include "graph/product_choices.hpp"
#include "kernels/cuda/algorithm.hpp"
#include "kernels/cuda/lt_objects.hpp"
#include "kernels/exec.hpp"

namespace spillway::cuda {

// A Product has all that cublasLt needs from the start on. Its sums are accumulated in fp32; fp32
// factors are multiplied in fp32, never in TF32. A bf16 result is rounded once, after all
// additions, unless there are both a bias and an addend: algorithms of Hopper GPUs then also round
// to bf16 between the two. The bits of the result depend on the ProductForm and its algorithm, on
// the device and the library.
class Product {
 public:
  // `name` names the product in messages. Throws std::logic_error if `choices` have no algorithm
  // for the form, and Error(device) if the library fails.
  Product(std::string name, ProductForm const& form, ProductChoices const& choices);

  std::int64_t workspace_bytes() const { return m_algorithm.workspace_bytes; }

  // Puts the product into the stream of `exec` and returns. An object may put one product at a time
  // into a stream. A bias or an addend that the form lacks is left out. The workspace must begin at
  // a multiple of 256 bytes. Throws Error(device).
  void operator()(Exec const& exec, MatmulOperands const& operands) const;

 private:
  void point_to(void const* bias) const;

  std::string m_name;
  bool m_swapped, m_has_bias;
  float m_beta;
  LtAlgorithm m_algorithm;
  LtObjects m_lt;
  mutable void const* m_bias = nullptr;  // the bias that m_lt points to, once there was one
};

}  // namespace spillway::cuda
