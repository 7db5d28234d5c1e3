// An LtAlgorithm is how cublasLt makes a product. It decides the product's bits, so runs find it
// once and keep its text.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/cuda/product_form.hpp"

namespace spillway::cuda {

// A text of `algo` is good for this version of the library alone, and for the same device
// (cublasLt.h: cublasLtMatmulAlgo_t "can be trivially serialized").
struct LtAlgorithm {
  cublasLtMatmulAlgo_t algo = {};
  std::int64_t workspace_bytes = 0;
};

// Returns such as "4096 42 10000000f 0 0 0 0 0 0": the bytes of workspace, then the words of `algo`
// in hexadecimal digits.
std::string to_text(LtAlgorithm const& algorithm);
std::optional<LtAlgorithm> algorithm_of(std::string const& text);  // nothing if it is no such text

// Returns such as "NVIDIA H100 80GB HBM3, cublasLt 13.1.0".
std::string maker_text(std::string_view device_name);

// Returns the algorithm that cublasLt takes for the fastest one, of those that need at most
// `most_bytes` of workspace. `name` names the product in messages. Throws Error(device).
LtAlgorithm find_algorithm(cublasLtHandle_t handle, std::string const& name,
                           ProductForm const& form, std::int64_t most_bytes);
// Returns whether the library makes the product with this algorithm and its workspace.
bool fits(cublasLtHandle_t handle, LtAlgorithm const& algorithm, ProductForm const& form);

}  // namespace spillway::cuda
