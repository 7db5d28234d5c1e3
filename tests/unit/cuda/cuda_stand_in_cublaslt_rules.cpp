// What the stand-in's cublasLt refuses, and how algorithms are chosen and had again.

#include "tests/support/cuda/kernel.hpp"
#include "tests/unit/cuda/cublaslt_case.hpp"

namespace spillway::test::cuda::cuda_stand_in_cublaslt_rules_test {
namespace {

constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto kNotSupported = CUBLAS_STATUS_NOT_SUPPORTED;

// A product that is right in everything: 8 x 8 x 128 of fp32, with a workspace. A test changes one
// thing, and says how that is refused.
class CudaStandInCublasLtRules : public CudaStandIn {
 protected:
  struct Product {
    LtCase lt{{}, {CUDA_R_32F, 8, 128, 8}, {CUDA_R_32F, 128, 8, 128}, {CUDA_R_32F, 8, 8, 8}};
    cublasLtMatmulHeuristicResult_t algorithm;
    LtCall call;
  };
  static constexpr std::size_t kA = 0, kB = 1 << 14, kD = 1 << 15, kWorkspace = 1 << 16;

  Product product(std::size_t n = 0) const {
    Product result{.algorithm = {}, .call = {}};
    result.algorithm = result.lt.algorithms(handle, 1 << 16).at(n);
    result.call = {.a = device.at(kA),
                   .b = device.at(kB),
                   .c = device.at(kD),
                   .d = device.at(kD),
                   .workspace = device.at(kWorkspace),
                   .workspace_bytes = result.algorithm.workspaceSize};
    return result;
  }
  cublasStatus_t run(Product const& p) const {
    return multiply(handle, p.lt, p.algorithm.algo, p.call, stream);
  }
  // Runs it after the change, and again as it was.
  void expect_refused(cublasStatus_t status, std::string const& words,
                      std::function<void(Product&)> const& change) const {
    auto changed = product();
    change(changed);
    EXPECT_EQ(run(changed), status) << words;
    EXPECT_TRUE(complained("cublasLtMatmul: " + words)) << ::testing::PrintToString(complaints());
    reset({.laziness = Laziness::latest});
    EXPECT_EQ(run(product()), CUBLAS_STATUS_SUCCESS);
    wait_for(stream);
    expect_no_complaints();
  }
  void expect(cublasStatus_t wanted, cublasStatus_t status, std::string const& words) const {
    EXPECT_EQ(status, wanted) << words;
    EXPECT_TRUE(complained(words)) << words << ::testing::PrintToString(complaints());
    reset({.laziness = Laziness::latest});
  }

  DeviceGranule device;
  TestStream stream;
  TestLtHandle handle;
};

TEST_F(CudaStandInCublasLtRules, operands_are_there_and_aligned) {
  std::vector<float> plain(1024);
  expect_refused(kInvalid, "the device cannot reach all bytes of A",
                 [&](auto& p) { p.call.a = plain.data(); });
  expect_refused(kInvalid, "the device cannot reach all bytes of B",
                 [&](auto& p) { p.call.b = device.at(kGranule - 4096 + 16); });
  expect_refused(kInvalid, "D is nowhere", [&](auto& p) { p.call.d = nullptr; });
  expect_refused(kInvalid, "A is not aligned to 16 bytes",
                 [&](auto& p) { p.call.a = device.at(kA + 8); });
  expect_refused(kInvalid, "D is not aligned to 16 bytes",
                 [&](auto& p) { p.call.d = device.at(kD + 4); });
  expect_refused(kInvalid, "the bias is nowhere", [&](auto& p) { p.lt.matmul.add_bias(nullptr); });
  expect_refused(kInvalid, "the bias is not aligned to 16 bytes",
                 [&](auto& p) { p.lt.matmul.add_bias(device.at(kGranule - 40)); });
  expect_refused(kInvalid, "there is a bias, and the epilogue takes none", [&](auto& p) {
    p.lt.matmul.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, device.at(kGranule - 32));
  });
}

TEST_F(CudaStandInCublasLtRules, what_is_written_is_nobody_elses) {
  expect_refused(kInvalid, "D overlaps A",
                 [&](auto& p) { p.call.c = p.call.d = device.at(kA + 4096 - 16); });
  expect_refused(kInvalid, "D overlaps C", [&](auto& p) { p.call.c = device.at(kD + 32); });
  expect_refused(kInvalid, "the workspace overlaps B",
                 [&](auto& p) { p.call.workspace = device.at(kB + 3840); });
  expect_refused(kInvalid, "the workspace overlaps D",
                 [&](auto& p) { p.call.c = p.call.d = device.at(kWorkspace + 16); });
  expect_refused(kInvalid, "the workspace overlaps the bias",
                 [&](auto& p) { p.lt.matmul.add_bias(device.at(kWorkspace)); });
  expect_refused(kInvalid, "D overlaps itself", [&](auto& p) {
    p.lt.a.set_batch(2, 0);
    p.lt.b.set_batch(2, 0);
    p.lt.d.set_batch(2, 60);
    p.call.workspace_bytes = 1024;
  });
}

// Columns of another matrix may lie between its own, as in a view of several heads.
TEST_F(CudaStandInCublasLtRules, the_gaps_of_d_may_be_anothers) {
  auto p = product(1);
  p.lt.d.set(CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{16});
  p.lt.a.set(CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{16});
  p.call.c = p.call.d = device.at(kA + 32);
  EXPECT_EQ(run(p), CUBLAS_STATUS_SUCCESS);
  wait_for(stream);
  expect_no_complaints();
}

TEST_F(CudaStandInCublasLtRules, the_workspace_is_planned) {
  PinnedPages const host(4096);
  expect_refused(kInvalid, "the workspace has 0 bytes, and the algorithm needs 512", [&](auto& p) {
    p.call.workspace = nullptr;
    p.call.workspace_bytes = 0;
  });
  expect_refused(kInvalid, "the workspace has 511 bytes, and the algorithm needs 512",
                 [&](auto& p) { p.call.workspace_bytes = 511; });
  expect_refused(kInvalid, "the workspace is not aligned to 256 bytes",
                 [&](auto& p) { p.call.workspace = device.at(kWorkspace + 128); });
  expect_refused(kInvalid, "the workspace is not on the device",
                 [&](auto& p) { p.call.workspace = host.at(); });
  expect_refused(kInvalid, "the device cannot reach all bytes of the workspace",
                 [&](auto& p) { p.call.workspace = device.at(kGranule - 256); });
}

TEST_F(CudaStandInCublasLtRules, layouts_belong_to_one_product) {
  auto const set = [](TestLayout const& layout, auto attribute, auto value) {
    EXPECT_EQ(layout.set(attribute, value), CUBLAS_STATUS_SUCCESS);
  };
  expect_refused(kInvalid, "A has the leading dimension 7, and its columns are of 8",
                 [&](auto& p) { set(p.lt.a, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{7}); });
  expect_refused(kInvalid, "A has the leading dimension 8, and its rows are of 128",
                 [&](auto& p) { set(p.lt.a, CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_ROW); });
  expect_refused(kInvalid, "B is 127 x 8 in the product, and the others want 128 x 8",
                 [&](auto& p) { set(p.lt.b, CUBLASLT_MATRIX_LAYOUT_ROWS, std::uint64_t{127}); });
  expect_refused(kInvalid, "A is 128 x 8 in the product",
                 [&](auto& p) { p.lt.matmul.transpose(true, false); });
  expect_refused(kInvalid, "A has 0 rows",
                 [&](auto& p) { set(p.lt.a, CUBLASLT_MATRIX_LAYOUT_ROWS, std::uint64_t{0}); });
  expect_refused(kInvalid, "A has another batch count than D",
                 [&](auto& p) { p.lt.a.set_batch(2, 0); });
  expect_refused(kInvalid, "B has a batch of 1 with the stride -1",
                 [&](auto& p) { p.lt.b.set_batch(1, -1); });
  expect_refused(kInvalid, "A and B have different types",
                 [&](auto& p) { set(p.lt.a, CUBLASLT_MATRIX_LAYOUT_TYPE, CUDA_R_16BF); });
  expect_refused(kNotSupported, "cublasLt makes no bf16 of fp32",
                 [&](auto& p) { set(p.lt.d, CUBLASLT_MATRIX_LAYOUT_TYPE, CUDA_R_16BF); });
  expect_refused(kInvalid, "an algorithm for other types", [&](auto& p) {
    set(p.lt.a, CUBLASLT_MATRIX_LAYOUT_TYPE, CUDA_R_16BF);
    set(p.lt.b, CUBLASLT_MATRIX_LAYOUT_TYPE, CUDA_R_16BF);
  });
  expect_refused(kNotSupported, "CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE is another", [&](auto& p) {
    p.lt.matmul.add_bias(device.at(kGranule - 64));
    p.lt.matmul.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_16BF);
  });
}

TEST_F(CudaStandInCublasLtRules, calls_name_what_is_there) {
  reset({.laziness = Laziness::latest, .devices = 2});
  TestLtHandle const here;
  auto const p = product();
  auto const matmul = [&](cublasLtHandle_t lt, cublasLtMatmulDesc_t desc, void const* alpha,
                          cublasLtMatrixLayout_t layout, cublasLtMatmulAlgo_t const* algo,
                          cudaStream_t on) {
    return cublasLtMatmul(lt, desc, alpha, p.call.a, layout, p.call.b, p.lt.b, &p.call.beta,
                          p.call.c, p.lt.d, p.call.d, p.lt.d, algo, p.call.workspace,
                          p.call.workspace_bytes, on);
  };
  auto const* const algo = &p.algorithm.algo;
  auto const* const alpha = &p.call.alpha;
  cublasLtMatmulDescOpaque_t raw{};
  cublasLtMatrixLayout_t ended = TestLayout(CUDA_R_32F, 8, 128, 8);
  cublasLtMatmulAlgo_t const empty{};
  expect(kInvalid, matmul(nullptr, p.lt.matmul, alpha, p.lt.a, algo, stream),
         "a cublasLt handle that does not exist");
  expect(kInvalid, matmul(here, &raw, alpha, p.lt.a, algo, stream),
         "a cublasLt matmul descriptor that does not exist");
  expect(kInvalid, matmul(here, p.lt.matmul, alpha, ended, algo, stream),
         "a cublasLt matrix layout that does not exist");
  expect(kNotSupported, matmul(here, p.lt.matmul, alpha, p.lt.a, nullptr, stream),
         "there is no algorithm");
  expect(kInvalid, matmul(here, p.lt.matmul, alpha, p.lt.a, &empty, stream),
         "an algorithm that was not initialised");
  expect(kInvalid, matmul(here, p.lt.matmul, nullptr, p.lt.a, algo, stream), "alpha is nowhere");
  expect(kInvalid, matmul(here, p.lt.matmul, device.at(), p.lt.a, algo, stream),
         "alpha lies on the device");
  expect(kInvalid, matmul(here, p.lt.matmul, alpha, p.lt.a, algo, nullptr),
         "a stream that does not exist");
  reset({.laziness = Laziness::latest, .devices = 2});
  cudaSetDevice(1);
  expect(kInvalid, matmul(here, p.lt.matmul, alpha, p.lt.a, algo, stream),
         "a handle of device 0 from a thread that has chosen device 1");
  reset({.laziness = Laziness::latest, .devices = 2});
  cudaSetDevice(1);
  TestLtHandle const there;
  expect(kInvalid, matmul(there, p.lt.matmul, alpha, p.lt.a, algo, stream),
         "a stream of another device");
  expect(kInvalid, matmul(there, p.lt.matmul, alpha, p.lt.a, algo, stream),
         "a handle of device 1 from a thread that has chosen device 0");
}

TEST_F(CudaStandInCublasLtRules, attributes_have_their_sizes_and_values) {
  TestMatmul const matmul;
  TestLayout const layout(CUDA_R_16BF, 3, 4, 5);
  cublasLtMatmulDesc_t none = nullptr;
  cublasLtMatrixLayout_t no_layout = nullptr;
  std::int64_t ld = 0;
  std::size_t written = 0;
  expect(kInvalid, matmul.set(CUBLASLT_MATMUL_DESC_TRANSA, std::int64_t{0}),
         "CUBLASLT_MATMUL_DESC_TRANSA has 4 bytes, and 8 are given");
  expect(kNotSupported, matmul.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_C),
         "CUBLASLT_MATMUL_DESC_TRANSA has a value");
  expect(kNotSupported, matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS),
         "CUBLASLT_MATMUL_DESC_EPILOGUE has a value");
  expect(kNotSupported, matmul.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE),
         "CUBLASLT_MATMUL_DESC_POINTER_MODE has a value");
  expect(kNotSupported, matmul.set(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 8),
         "the stand-in has no CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET");
  expect(kNotSupported, matmul.set(static_cast<cublasLtMatmulDescAttributes_t>(99), 8),
         "does not know attribute 99");
  expect(kNotSupported, layout.set(static_cast<cublasLtMatrixLayoutAttribute_t>(8), 0),
         "the stand-in has no CUBLASLT_MATRIX_LAYOUT_BATCH_MODE");
  expect(kNotSupported, layout.set(CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_COL32),
         "CUBLASLT_MATRIX_LAYOUT_ORDER has a value");
  expect(kNotSupported, cublasLtMatmulDescCreate(&none, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F),
         "CUBLASLT_MATMUL_DESC_COMPUTE_TYPE has a value");
  expect(kNotSupported, cublasLtMatrixLayoutCreate(&no_layout, CUDA_R_16F, 1, 1, 1),
         "CUBLASLT_MATRIX_LAYOUT_TYPE has a value");
  expect(kInvalid,
         cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, &ld, 4, nullptr),
         "CUBLASLT_MATRIX_LAYOUT_LD has 8 bytes, and 4 are given");
  cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, &ld, 8, &written);
  EXPECT_EQ(ld, 5);
  EXPECT_EQ(written, 8u);
  cublasLtMatmulDescGetAttribute(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, nullptr, 0, &written);
  EXPECT_EQ(written, 4u);
  EXPECT_EQ(layout.set(CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{5}), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(needless_calls().at("cublasLtMatrixLayoutSetAttribute").size(), 1u);
  expect_no_complaints();
}

TEST_F(CudaStandInCublasLtRules, what_is_not_destroyed_is_named) {
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulPreferenceCreate(&preference);
  auto const all = leftovers();
  EXPECT_TRUE(std::ranges::any_of(
      all, [](auto const& text) { return text.starts_with("cublasLt matmul preference 0x"); }));
  EXPECT_EQ(cublasLtMatmulPreferenceDestroy(preference), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(leftovers().size() + 1, all.size());
  expect(kInvalid, cublasLtMatmulPreferenceDestroy(preference),
         "a cublasLt matmul preference that does not exist");
}

// An item may begin several products, and each stays within what the item says.
TEST_F(CudaStandInCublasLtRules, operands_are_where_their_item_says) {
  auto const p = product();
  std::vector<AddressRange> ranges = {range_of(device.at(kA), 4096), range_of(device.at(kB), 4096),
                                      range_of(device.at(kD), 256),
                                      range_of(device.at(kWorkspace), 512)};
  expect_ranges(ranges);
  EXPECT_EQ(run(p), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(run(p), CUBLAS_STATUS_SUCCESS);
  for (auto const& [i, name] : {std::pair{0, "A"}, {1, "B"}, {3, "the workspace"}}) {
    auto shorter = ranges;
    shorter[static_cast<std::size_t>(i)].bytes -= 1;
    expect_ranges(shorter);
    expect(kInvalid, run(p), std::string(name) + " is not where its item says");
  }
  expect_any_ranges();
  EXPECT_EQ(run(p), CUBLAS_STATUS_SUCCESS);
  wait_for(stream);
  expect_no_complaints();
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_stand_in_cublaslt_rules_test
