// Products of kernels/cuda on the stand-in's cublasLt, against the host's serial reference.
#include "base/error.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/cuda/cublaslt_product_case.hpp"

namespace spillway::test::cuda::cublaslt_products_test {
namespace {

class CublasltProducts : public CudaStandIn {
 protected:
  // Runs the product once, and gives what the stand-in was asked for meanwhile.
  void run(ProductOp& op, spillway::cuda::Product const& product) {
    product(m_exec, op.operands(m_workspace.at()));
    wait_for(m_stream);
  }
  void expect_reference(ProductCase const& of) {
    ProductOp op(of);
    op.choose();
    run(op, op.product());
    op.expect_reference();
  }

  TestStream m_stream;
  DeviceGranule m_workspace;
  LtExec m_exec{m_stream};
};

// 37 x 29 x 53: nothing is a multiple of anything.
TEST_F(CublasltProducts, of_every_form_are_those_of_the_reference) {
  struct Types {
    DType in, out;
  };
  for (auto const [in, out] : {Types{DType::f32, DType::f32}, Types{DType::bf16, DType::bf16},
                               Types{DType::bf16, DType::f32}}) {
    for (unsigned bits = 0; bits < 64; ++bits) {
      auto const bit = [bits](int i) { return (bits >> i & 1) != 0; };
      bool const bias = bit(3), addend = bit(4), is_column = bit(2);
      if ((bias || addend) && in != out) continue;
      if (bias && is_column) continue;
      SCOPED_TRACE(bits);
      expect_reference({.m = 37,
                        .n = 29,
                        .k = 53,
                        .in = in,
                        .out = out,
                        .transposed_a = bit(0),
                        .transposed_b = bit(1),
                        .transposed_c = is_column,
                        .bias = bias,
                        .addend = addend,
                        .gap = bit(5) ? 3 : 0,
                        .added_gap = 2});
    }
  }
  expect_no_complaints();
}

TEST_F(CublasltProducts, of_rows_and_columns_are_those_of_the_reference) {
  for (auto const& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
           {1, 29, 53}, {37, 1, 53}, {37, 29, 1}, {1, 1, 53}, {1, 29, 1}, {1, 1, 1}}) {
    for (unsigned bits = 0; bits < 64; ++bits) {
      auto const bit = [bits](int i) { return (bits >> i & 1) != 0; };
      expect_reference({.m = m,
                        .n = n,
                        .k = k,
                        .transposed_a = bit(0),
                        .transposed_b = bit(1),
                        .bias = bit(3),
                        .addend = bit(4),
                        .gap = bit(2) ? 5 : 0,
                        .added_gap = bit(5) ? 3 : 0});
    }
  }
  expect_no_complaints();
}

// The stand-in's fastest algorithm splits K and needs a workspace, and no alignment of odd sizes.
TEST_F(CublasltProducts, take_the_workspace_that_their_algorithm_needs) {
  ProductOp op({.m = 48, .n = 64, .k = 256, .in = DType::bf16, .out = DType::bf16, .bias = true});
  op.choose();
  auto const product = op.product();
  EXPECT_EQ(product.workspace_bytes(), 4 * 48 * 64 * 4);
  run(op, product);
  op.expect_reference();

  ProductOp odd({.m = 47, .n = 63, .k = 255});
  odd.choose();
  EXPECT_EQ(odd.product().workspace_bytes(), 0);
  expect_no_complaints();
}

TEST_F(CublasltProducts, begin_anywhere_in_a_tensor) {
  for (std::int64_t const offset : {1, 2, 4, 8, 32, 33}) {
    for (auto const type : {DType::f32, DType::bf16}) {
      ProductCase const plain{.m = 16, .n = 32, .k = 64, .in = type, .out = type};
      auto begins = plain, adds_bias = plain, adds_matrix = plain;
      begins.offset = adds_bias.added_offset = adds_matrix.added_offset = offset;
      adds_bias.bias = adds_matrix.addend = true;
      for (auto const& of : {begins, adds_bias, adds_matrix}) expect_reference(of);
    }
  }
  expect_no_complaints();
}

// The library refuses a bias where it is to add none: here a kernel adds it to the product in fp32.
TEST_F(CublasltProducts, of_a_form_without_a_bias_leave_that_of_the_operands_out) {
  ProductOp op({.m = 5, .n = 29, .k = 23, .in = DType::bf16, .out = DType::f32, .bias = true});
  op.choose();
  run(op, op.product());
  expect_no_complaints();
}

TEST_F(CublasltProducts, are_added_to_what_is_there) {
  for (bool const by_columns : {false, true}) {
    ProductOp op({.m = 19, .n = 23, .k = 31, .in = DType::bf16, .transposed_c = by_columns});
    op.choose();
    auto form = op.form();
    form.accumulate = true;
    std::vector<float> const before(op.result(), op.result() + 19 * 23);
    run(op, {"a sum", form, op.graph.arithmetic.products});
    std::vector<float> const after(op.result(), op.result() + 19 * 23);
    run(op, op.product());
    for (std::size_t i = 0; i < before.size(); ++i)
      ASSERT_EQ(after[i], before[i] + op.result()[i]) << i;
  }
  expect_no_complaints();
}

TEST_F(CublasltProducts, are_one_call_each_and_one_more_for_each_new_bias) {
  ProductOp op({.m = 37, .n = 29, .k = 53, .bias = true});
  op.choose();
  auto const product = op.product();
  auto before = calls();
  auto const called = [&] {
    auto const now = calls();
    std::map<std::string, std::int64_t> more;
    for (auto const& [name, count] : now)
      if (count > before[name]) more[name] = count - before[name];
    before = now;
    return more;
  };
  using Calls = std::map<std::string, std::int64_t>;
  auto const operands = op.operands(m_workspace.at());
  product(m_exec, operands);
  EXPECT_EQ(called(), (Calls{{"cublasLtMatmul", 1}, {"cublasLtMatmulDescSetAttribute", 1}}));
  product(m_exec, operands);
  EXPECT_EQ(called(), (Calls{{"cublasLtMatmul", 1}}));
  auto other = operands;
  other.bias = static_cast<float const*>(operands.a);
  product(m_exec, other);
  EXPECT_EQ(called(), (Calls{{"cublasLtMatmul", 1}, {"cublasLtMatmulDescSetAttribute", 1}}));
  product(m_exec, operands);
  wait_for(m_stream);
  op.expect_reference();
  expect_no_complaints();
}

TEST_F(CublasltProducts, that_fail_name_the_op_and_the_call) {
  ProductOp op({.m = 37, .n = 29, .k = 53});
  op.choose();
  auto const product = op.product();
  plan_fault({.call = "cublasLtMatmul", .kind = PlannedFault::Kind::failed});
  auto const why =
      refused_with([&] { product(m_exec, op.operands(m_workspace.at())); }, Status::device);
  EXPECT_EQ(why,
            "a product: cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED: the device failed to "
            "execute");
}

TEST_F(CublasltProducts, fail_with_the_device_wherever_a_call_fails) {
  for (auto const* const call :
       {"cublasLtCreate", "cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute",
        "cublasLtMatrixLayoutCreate", "cublasLtMatmulPreferenceCreate",
        "cublasLtMatmulPreferenceSetAttribute", "cublasLtMatmulAlgoGetHeuristic"}) {
    reset();
    ProductOp op({.m = 37, .n = 29, .k = 53, .bias = true});
    plan_fault({.call = call, .kind = PlannedFault::Kind::failed});
    auto const why = refused_with([&] { op.choose(); }, Status::device);
    EXPECT_NE(why.find(std::string(call) + ": CUBLAS_STATUS_"), why.npos) << why;
  }
}

}  // namespace
}  // namespace spillway::test::cuda::cublaslt_products_test
