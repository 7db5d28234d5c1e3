#include "tests/support/cuda/cublaslt_algorithms.hpp"

#include <algorithm>
#include <bit>

#include "base/math.hpp"
#include "tests/support/cuda/cublaslt_call.hpp"

namespace spillway::test::cuda {
namespace {

static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));

constexpr std::uint64_t kInitialised = 0x616c676f00000000 + CUBLAS_VERSION;
constexpr std::int64_t kLeastSplitK = 64;  // is the least extent of K in one part
constexpr std::int32_t kMostSplits = 4;

struct Known {
  Config config;                 // is complete except for `splits`
  std::int64_t alignment_bytes;  // 1 means the alignment of an element
  bool splits;
};

// The algorithms are ordered by speed. The last one, which is the slowest, runs every product.
constexpr Known kKnown[] = {
    {{.id = 66,
      .tile = CUBLASLT_MATMUL_TILE_128x64,
      .reduction_scheme = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
      .custom_option = 2,
      .stages = CUBLASLT_MATMUL_STAGES_64x4,
      .cluster_shape = CUBLASLT_CLUSTER_SHAPE_2x1x1},
     16,
     true},
    {{.id = 21,
      .tile = CUBLASLT_MATMUL_TILE_64x64,
      .swizzling = 1,
      .stages = CUBLASLT_MATMUL_STAGES_64x3},
     16,
     false},
    {{.id = 1, .tile = CUBLASLT_MATMUL_TILE_32x32}, 1, false},
};

Known const& known(std::int32_t id) {
  auto const* const found =
      std::ranges::find(kKnown, id, [](Known const& one) { return one.config.id; });
  if (found == std::end(kKnown)) throw invalid(fmt::format("there is no algorithm {}", id));
  return *found;
}

std::int32_t splits_of(LtProblem const& problem) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(kMostSplits, problem.k / kLeastSplitK));
}

// Returns whether all columns of all matrices of a batch are aligned if the first column is.
bool strides_are_aligned(LtMatrix const& matrix, std::int64_t alignment_bytes) {
  auto const bytes = element_bytes(matrix.type);
  return alignment_bytes == 1 || (matrix.ld * bytes % alignment_bytes == 0 &&
                                  matrix.batch_stride * bytes % alignment_bytes == 0);
}

bool admits(LtPreference const& preference, LtProblem const& problem, Known const& one) {
  std::uint32_t const given[] = {preference.alignment_a_bytes, preference.alignment_b_bytes,
                                 preference.alignment_c_bytes, preference.alignment_d_bytes};
  for (std::size_t i = 0; i < problem.matrices.size(); ++i) {
    auto const& matrix = problem.matrices[i];
    if (given[i] < std::max(one.alignment_bytes, element_bytes(matrix.type)) ||
        !strides_are_aligned(matrix, one.alignment_bytes))
      return false;
  }
  // The library takes the alignment of the bias from its address, and reads nothing there.
  if (problem.has_bias && problem.bias == 0)
    throw invalid("the bias is nowhere, and its alignment decides which algorithms there are");
  if (problem.has_bias && problem.bias % static_cast<std::uintptr_t>(one.alignment_bytes) != 0)
    return false;
  return !one.splits || (splits_of(problem) > 1 &&
                         (preference.reduction_schemes & one.config.reduction_scheme) != 0);
}

}  // namespace

Algorithm unpack(cublasLtMatmulAlgo_t const& algo) {
  auto const result = std::bit_cast<Algorithm>(algo);
  if (result.mark != kInitialised)
    throw invalid("an algorithm that was not initialised, or by another version");
  return result;
}

cublasLtMatmulAlgo_t pack(Algorithm const& algorithm) {
  return std::bit_cast<cublasLtMatmulAlgo_t>(algorithm);
}

Algorithm algorithm(std::int32_t id, LtTypes const& types) {
  check(types);
  return {{.id = known(id).config.id}, types, kInitialised};
}

std::int64_t alignment_bytes(Algorithm const& algorithm) {
  return known(algorithm.config.id).alignment_bytes;
}

std::int64_t workspace_bytes(Algorithm const& algorithm, LtProblem const& problem) {
  auto const parts = algorithm.config.splits;
  if (parts == 1) return 0;
  auto const sums = parts * problem.m * problem.n * problem.batch_count;
  return round_up<std::int64_t>(sums * std::int64_t{sizeof(float)}, kWorkspaceAlignmentBytes);
}

void check(Algorithm const& algorithm, LtProblem const& problem) {
  auto const& one = known(algorithm.config.id);
  if (algorithm.types != problem.types) throw invalid("an algorithm for other types");
  auto wanted = one.config;
  wanted.splits = one.splits ? std::clamp(algorithm.config.splits, 2, kMostSplits) : 1;
  if (algorithm.config != wanted)
    throw not_supported(fmt::format("algorithm {} is not configured as it came", wanted.id));
  if (algorithm.config.splits > problem.k)
    throw not_supported("K is split into more parts than it has elements");
  for (std::size_t i = 0; i < problem.matrices.size(); ++i) {
    if (!strides_are_aligned(problem.matrices[i], one.alignment_bytes))
      throw not_supported(fmt::format("algorithm {} wants strides of {} aligned to {} bytes",
                                      wanted.id, kMatrixNames[i], one.alignment_bytes));
  }
}

std::vector<Algorithm> choose(LtProblem const& problem, LtPreference const& preference) {
  std::vector<Algorithm> result;
  for (auto const& one : kKnown) {
    Algorithm choice{one.config, problem.types, kInitialised};
    if (one.splits) choice.config.splits = splits_of(problem);
    if (!admits(preference, problem, one)) continue;
    auto const workspace = static_cast<std::uint64_t>(workspace_bytes(choice, problem));
    if (workspace <= preference.most_workspace_bytes) result.push_back(choice);
  }
  return result;
}

}  // namespace spillway::test::cuda
