// The stand-in's algorithms for a product: made up, but as different as those of cublasLt. One
// wants no alignment; one splits K, needs workspace and gives other bits.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <vector>

#include "tests/support/cuda/cublaslt_problem.hpp"

namespace spillway::test::cuda {

inline constexpr std::int64_t kWorkspaceAlignmentBytes = 256;

// What tells one algorithm from another: all of it must be set again to have the same one.
struct Config {
  std::int32_t id = 0;
  std::uint32_t tile = 0;
  std::int32_t splits = 1;
  std::uint32_t reduction_scheme = 0, swizzling = 0, custom_option = 0, stages = 0;
  std::uint16_t inner_shape = 0, cluster_shape = 0;
  bool operator==(Config const&) const = default;
};

// What a cublasLtMatmulAlgo_t holds.
struct Algorithm {
  Config config;
  LtTypes types;
  std::uint64_t seal = 0;  // says that it was initialised by this version
};

// Throws Refused if it was not.
Algorithm unpack(cublasLtMatmulAlgo_t const& algo);
cublasLtMatmulAlgo_t pack(Algorithm const& algorithm);

// The algorithm of this number without any configuration. Throws Refused if there is none.
Algorithm algorithm(std::int32_t id, LtTypes const& types);
// Of operands, of the strides between their columns and of those of a batch.
std::int64_t alignment_bytes(Algorithm const& algorithm);
std::int64_t workspace_bytes(Algorithm const& algorithm, LtProblem const& problem);
// Throws Refused if it cannot run this product.
void check(Algorithm const& algorithm, LtProblem const& problem);

// Returns the algorithms that the preference admits, the fastest first.
std::vector<Algorithm> choose(LtProblem const& problem, LtPreference const& preference);

}  // namespace spillway::test::cuda
