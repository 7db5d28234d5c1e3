// The stand-in has made-up algorithms for products that differ as those of cublasLt do. One needs
// no alignment; one splits K, needs a workspace and gives other bits.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <vector>

#include "tests/support/cuda/cublaslt_problem.hpp"

namespace spillway::test::cuda {

inline constexpr std::int64_t kWorkspaceAlignmentBytes = 256;

// A Config identifies an algorithm: whoever sets one up again must set all of it.
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
  std::uint64_t seal = 0;  // shows that this version has initialised it
};

// Throws Refused if the algorithm was not initialised by this version.
Algorithm unpack(cublasLtMatmulAlgo_t const& algo);
cublasLtMatmulAlgo_t pack(Algorithm const& algorithm);

// Returns the algorithm with this id, not yet configured. Throws Refused if there is none.
Algorithm algorithm(std::int32_t id, LtTypes const& types);
// Returns the alignment of operands, of the strides between their columns and of batch strides.
std::int64_t alignment_bytes(Algorithm const& algorithm);
std::int64_t workspace_bytes(Algorithm const& algorithm, LtProblem const& problem);
// Throws Refused if the algorithm cannot run this product.
void check(Algorithm const& algorithm, LtProblem const& problem);

// Returns the algorithms that the preference admits, the fastest one first.
std::vector<Algorithm> choose(LtProblem const& problem, LtPreference const& preference);

}  // namespace spillway::test::cuda
