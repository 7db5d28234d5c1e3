// How algorithms of the stand-in's cublasLt are chosen, and had again in another run.
#include <cstring>
#include <map>

#include "tests/unit/cuda/cublaslt_case.hpp"

namespace spillway::test::cuda::cuda_stand_in_cublaslt_choice_test {
namespace {

class CudaStandInCublasLtChoice : public CudaStandIn {
 protected:
  static std::int32_t id(cublasLtMatmulHeuristicResult_t const& result) {
    std::int32_t id = 0;
    EXPECT_EQ(cublasLtMatmulAlgoConfigGetAttribute(&result.algo, CUBLASLT_ALGO_CONFIG_ID, &id,
                                                   sizeof id, nullptr),
              CUBLAS_STATUS_SUCCESS);
    return id;
  }
  std::vector<std::int32_t> ids(std::uint64_t most_workspace_bytes,
                                std::uint32_t alignment_bytes = 256) const {
    std::vector<std::int32_t> result;
    for (auto const& one : lt.algorithms(handle, most_workspace_bytes, alignment_bytes)) {
      EXPECT_LE(one.workspaceSize, most_workspace_bytes);
      result.push_back(id(one));
    }
    return result;
  }

  LtCase lt{{}, {CUDA_R_16BF, 32, 256, 32}, {CUDA_R_16BF, 256, 40, 256}, {CUDA_R_32F, 32, 40, 32}};
  TestLtHandle handle;
};

using Ids = std::vector<std::int32_t>;

TEST_F(CudaStandInCublasLtChoice, honours_the_preference) {
  std::size_t const sums = 4 * 32 * 40 * sizeof(float);
  EXPECT_EQ(lt.algorithms(handle, sums).front().workspaceSize, sums);
  EXPECT_EQ(ids(sums), (Ids{66, 21, 1}));
  EXPECT_EQ(ids(sums - 1), (Ids{21, 1}));
  EXPECT_EQ(ids(sums, 16), (Ids{66, 21, 1}));
  EXPECT_EQ(ids(sums, 8), (Ids{1}));
  EXPECT_EQ(lt.a.set(CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{33}), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(ids(sums), (Ids{1})) << "a second column would not be aligned";
  expect_no_complaints();
}

// Nothing need be at the address that a descriptor has for its bias.
TEST_F(CudaStandInCublasLtChoice, takes_the_alignment_of_a_bias_from_its_address) {
  for (auto const& [address, admitted] :
       std::map<std::uintptr_t, Ids>{{16, {66, 21, 1}}, {48, {66, 21, 1}}, {8, {1}}, {4, {1}}}) {
    lt.matmul.add_bias(reinterpret_cast<void const*>(address));
    EXPECT_EQ(ids(1 << 20), admitted) << address;
  }
  expect_no_complaints();
  lt.matmul.add_bias(nullptr);
  TestPreference const preference(1 << 20);
  cublasLtMatmulHeuristicResult_t result = {};
  int count = 0;
  EXPECT_EQ(cublasLtMatmulAlgoGetHeuristic(handle, lt.matmul, lt.a, lt.b, lt.d, lt.d, preference, 1,
                                           &result, &count),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_TRUE(complained("the bias is nowhere, and its alignment decides"));
}

TEST_F(CudaStandInCublasLtChoice, answers_only_what_is_asked) {
  TestPreference const some(1 << 20), strict(1 << 20, 1);
  some.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           std::uint32_t{CUBLASLT_REDUCTION_SCHEME_INPLACE});
  cublasLtMatmulHeuristicResult_t results[2] = {};
  int count = 0;
  auto const ask = [&](cublasLtMatmulPreference_t preference, int most) {
    return cublasLtMatmulAlgoGetHeuristic(handle, lt.matmul, lt.a, lt.b, lt.d, lt.d, preference,
                                          most, results, &count);
  };
  EXPECT_EQ(ask(some, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(id(results[0]), 21) << "only sums in place may be split, and it has none";
  expect_no_complaints();
  EXPECT_EQ(ask(some, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(ask(strict, 1), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(count, 0);
  EXPECT_TRUE(complained("the preference admits no algorithm"));
}

// The values of all attributes, as a run would write them down.
using Config = std::map<cublasLtMatmulAlgoConfigAttributes_t, std::vector<std::byte>>;

Config config_of(cublasLtMatmulAlgo_t const& algo) {
  Config result;
  for (int i = CUBLASLT_ALGO_CONFIG_ID; i <= CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID; ++i) {
    auto const attribute = static_cast<cublasLtMatmulAlgoConfigAttributes_t>(i);
    std::size_t bytes = 0;
    cublasLtMatmulAlgoConfigGetAttribute(&algo, attribute, nullptr, 0, &bytes);
    result[attribute].resize(bytes);
    EXPECT_EQ(cublasLtMatmulAlgoConfigGetAttribute(&algo, attribute, result[attribute].data(),
                                                   bytes, nullptr),
              CUBLAS_STATUS_SUCCESS);
  }
  return result;
}

TEST_F(CudaStandInCublasLtChoice, an_algorithm_can_be_had_again) {
  auto const make = [&](Config const& config, int id) {
    cublasLtMatmulAlgo_t result{};
    EXPECT_EQ(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF,
                                     CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, id, &result),
              CUBLAS_STATUS_SUCCESS);
    for (auto const& [attribute, value] : config) {
      if (attribute != CUBLASLT_ALGO_CONFIG_ID)
        cublasLtMatmulAlgoConfigSetAttribute(&result, attribute, value.data(), value.size());
    }
    return result;
  };
  cublasLtMatmulHeuristicResult_t checked{};
  auto const check = [&](cublasLtMatmulAlgo_t const& algo) {
    return cublasLtMatmulAlgoCheck(handle, lt.matmul, lt.a, lt.b, lt.d, lt.d, &algo, &checked);
  };
  for (auto const& one : lt.algorithms(handle, 1 << 20)) {
    auto const config = config_of(one.algo);
    auto const again = make(config, id(one));
    EXPECT_EQ(std::memcmp(&again, &one.algo, sizeof again), 0);
    EXPECT_EQ(check(again), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(checked.workspaceSize, one.workspaceSize);
    expect_no_complaints();
    auto const fresh = config_of(make({}, id(one)));
    for (auto const& [attribute, value] : config) {
      if (value == fresh.at(attribute)) continue;
      auto without = config;
      without.erase(attribute);
      EXPECT_EQ(check(make(without, id(one))), CUBLAS_STATUS_NOT_SUPPORTED);
      EXPECT_TRUE(complained("is not configured as it came"));
      reset();
    }
  }
}

TEST_F(CudaStandInCublasLtChoice, what_is_no_algorithm_is_refused) {
  cublasLtMatmulAlgo_t algo{};
  auto const init = [&](cudaDataType_t in, cudaDataType_t out, int id) {
    return cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, in, in, out, out, id,
                                  &algo);
  };
  std::int32_t const value = 2;
  auto const set = [&](auto attribute) {
    return cublasLtMatmulAlgoConfigSetAttribute(&algo, attribute, &value, sizeof value);
  };
  EXPECT_EQ(set(CUBLASLT_ALGO_CONFIG_SPLITK_NUM), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_TRUE(complained("an algorithm that was not initialised"));
  EXPECT_EQ(init(CUDA_R_16BF, CUDA_R_32F, 2), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_TRUE(complained("there is no algorithm 2"));
  EXPECT_EQ(init(CUDA_R_16F, CUDA_R_16F, 1), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_TRUE(complained("matrices of fp32 and bf16 alone"));
  EXPECT_EQ(init(CUDA_R_16BF, CUDA_R_32F, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(set(CUBLASLT_ALGO_CONFIG_ID), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_TRUE(complained("CUBLASLT_ALGO_CONFIG_ID can only be read"));
  lt.a.set(CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{33});
  LtCase const straight{
      {}, {CUDA_R_16BF, 32, 256, 32}, {CUDA_R_16BF, 256, 40, 256}, {CUDA_R_32F, 32, 40, 32}};
  auto const aligned = straight.algorithms(handle, 0).front();
  cublasLtMatmulHeuristicResult_t result{};
  EXPECT_EQ(
      cublasLtMatmulAlgoCheck(handle, lt.matmul, lt.a, lt.b, lt.d, lt.d, &aligned.algo, &result),
      CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_TRUE(complained("algorithm 21 wants strides of A aligned to 16 bytes"));
}

TEST_F(CudaStandInCublasLtChoice, statuses_and_versions_have_names) {
  EXPECT_STREQ(cublasLtGetStatusName(CUBLAS_STATUS_EXECUTION_FAILED),
               "CUBLAS_STATUS_EXECUTION_FAILED");
  EXPECT_STREQ(cublasLtGetStatusString(CUBLAS_STATUS_ALLOC_FAILED),
               "the resource allocation failed");
  EXPECT_EQ(cublasLtGetVersion(), std::size_t{CUBLAS_VERSION});
  EXPECT_EQ(cublasLtGetCudartVersion(), std::size_t{CUDART_VERSION});
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_stand_in_cublaslt_choice_test
