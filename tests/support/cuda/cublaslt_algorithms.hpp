// The stand-in has made-up algorithms for products, which differ in ways in which those of cublasLt
// do. One needs no alignment. Another splits K, needs a workspace and gives other bits than the
// rest.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <vector>

#include "tests/support/cuda/cublaslt_problem.hpp"

namespace spillway::test::cuda {

inline constexpr std::int64_t kWorkspaceAlignmentBytes = 256;

// A Config identifies an algorithm. Whoever sets an algorithm up again must set every field.
struct Config {
  std::int32_t id = 0;
  std::uint32_t tile = 0;
  std::int32_t splits = 1;
  std::uint32_t reduction_scheme = 0, swizzling = 0, custom_option = 0, stages = 0;
  std::uint16_t inner_shape = 0, cluster_shape = 0;
  bool operator==(Config const&) const = default;
};

// An Algorithm is what a cublasLtMatmulAlgo_t holds.
struct Algorithm {
  Config config;
  LtTypes types;
  std::uint64_t mark = 0;  // is kInitialised if the stand-in, at this version, initialised it
};

// Throws Refused if the stand-in, of this version of cublasLt, has not initialised the algorithm.
Algorithm unpack(cublasLtMatmulAlgo_t const& algo);
cublasLtMatmulAlgo_t pack(Algorithm const& algorithm);

// Returns the algorithm with this id, not yet configured. Throws Refused if there is no such
// algorithm or no product of these types.
Algorithm algorithm(std::int32_t id, LtTypes const& types);
// Returns the alignment that the algorithm needs of operands, of the strides between their columns
// and of batch strides. 1 means the alignment of an element.
std::int64_t alignment_bytes(Algorithm const& algorithm);
std::int64_t workspace_bytes(Algorithm const& algorithm, LtProblem const& problem);
// Throws Refused if the algorithm cannot run this product.
void check(Algorithm const& algorithm, LtProblem const& problem);

// Returns the algorithms that the preference and the alignment of the bias admit, the fastest one
// first. Throws Refused if there is a bias and it has no address.
std::vector<Algorithm> choose(LtProblem const& problem, LtPreference const& preference);

}  // namespace spillway::test::cuda
