// How kernels/cuda chooses algorithms of products, keeps them and refuses what has none.
#include "kernels/cuda_loss_workspace.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/cuda/cublaslt_product_case.hpp"

namespace spillway::test::cuda::cublaslt_choices_test {
namespace {

using spillway::cuda::algorithm_of;
using spillway::cuda::text;

constexpr ProductCase kOdd{.m = 37, .n = 29, .k = 53};
constexpr ProductCase kSplit{.m = 48, .n = 64, .k = 256, .in = DType::bf16, .out = DType::bf16};

std::string const& algorithm(ProductOp const& op) {
  return op.graph.arithmetic.products.algorithms.at(text(op.form()));
}

class CublasltChoices : public CudaStandIn {};

TEST_F(CublasltChoices, name_the_device_and_the_version_of_the_library) {
  ProductOp op(kOdd);
  op.choose();
  auto const& choices = op.graph.arithmetic.products;
  EXPECT_EQ(choices.made_by, fmt::format("a GPU, cublasLt {}.{}.{}", CUBLAS_VER_MAJOR,
                                         CUBLAS_VER_MINOR, CUBLAS_VER_PATCH));
  ASSERT_EQ(choices.algorithms.size(), 1);
  EXPECT_EQ(choices.algorithms.begin()->first,
            "f32 NN 29x37x53 to f32, ld 29 53 29, aligned 64 64 64");
}

TEST_F(CublasltChoices, survive_as_text) {
  for (auto const& of : {kOdd, kSplit}) {
    ProductOp op(of);
    op.choose();
    auto const found = algorithm_of(algorithm(op));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(to_text(*found), algorithm(op));
    EXPECT_EQ(found->workspace_bytes > 0, of.k == kSplit.k);
  }
  for (auto const* const damaged :
       {"", "0", "x 0 0 0 0 0 0 0 0", "-1 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0",
        "0 0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0 g", "0 0 0 0 0 0 0 0 11112222333344445"})
    EXPECT_FALSE(algorithm_of(damaged).has_value()) << damaged;
}

// Whatever the library would choose now: the bits of the earlier run count.
TEST_F(CublasltChoices, of_an_earlier_run_are_kept) {
  ProductOp op(kSplit), again(kSplit);
  op.choose();
  auto known = op.graph.arithmetic.products;
  ProductOp slow({.m = 48, .n = 64, .k = 256, .in = DType::bf16, .out = DType::bf16, .offset = 1});
  slow.choose();
  ASSERT_NE(algorithm(slow), algorithm(op));
  known.algorithms.at(text(op.form())) = algorithm(slow);
  known.algorithms["a product that nobody has now"] = algorithm(op);
  again.choose(known);
  EXPECT_EQ(algorithm(again), algorithm(slow));
  EXPECT_EQ(again.graph.arithmetic.products.algorithms.size(), 1);
  expect_no_complaints();
}

TEST_F(CublasltChoices, of_another_device_or_library_are_made_anew) {
  ProductOp op(kSplit), again(kSplit);
  op.choose();
  auto known = op.graph.arithmetic.products;
  known.made_by = "another GPU, cublasLt 1.2.3";
  known.algorithms.at(text(op.form())) = "0 0 0 0 0 0 0 0 0";
  again.choose(known);
  EXPECT_EQ(again.graph.arithmetic.products, op.graph.arithmetic.products);
  expect_no_complaints();
}

TEST_F(CublasltChoices, that_the_library_does_not_take_are_made_anew) {
  ProductOp op(kSplit);
  op.choose();
  auto const good = op.graph.arithmetic.products;
  auto const with_bytes = [&](std::int64_t bytes) {
    auto changed = *algorithm_of(algorithm(op));
    changed.workspace_bytes = bytes;
    return to_text(changed);
  };
  for (auto const& damaged : {std::string("no algorithm"), std::string("0 0 0 0 0 0 0 0 0"),
                              with_bytes(0), with_bytes(cuda_product_bytes(90) + 1)}) {
    ProductOp again(kSplit);
    auto known = good;
    known.algorithms.at(text(op.form())) = damaged;
    again.choose(known);
    EXPECT_EQ(again.graph.arithmetic.products, good) << damaged;
  }
}

// A part of a sum that is rounded to bf16 would be rounded twice, so such algorithms are not asked
// for, and a workspace is never larger than the op's.
TEST_F(CublasltChoices, are_within_the_workspace_of_the_op) {
  ProductOp op({.m = 250, .n = 250, .k = 256, .in = DType::bf16, .out = DType::bf16});
  spillway::cuda::LtHandle const handle;
  auto const bytes = [&](std::int64_t most) {
    return spillway::cuda::find_algorithm(handle.get(), "op", op.form(), most).workspace_bytes;
  };
  EXPECT_EQ(bytes(std::int64_t{4} << 20), 0) << "250 columns are not aligned";
  ProductOp large({.m = 256, .n = 256, .k = 256, .in = DType::bf16, .out = DType::bf16});
  auto const needed =
      spillway::cuda::find_algorithm(handle.get(), "op", large.form(), std::int64_t{4} << 20);
  EXPECT_EQ(needed.workspace_bytes, std::int64_t{4} * 256 * 256 * 4);
  EXPECT_EQ(
      spillway::cuda::find_algorithm(handle.get(), "op", large.form(), needed.workspace_bytes - 1)
          .workspace_bytes,
      0);
  expect_no_complaints();
}

TEST_F(CublasltChoices, that_are_missing_are_errors_by_name) {
  ProductOp op(kOdd);
  EXPECT_EQ(mistake([&] { op.product(); }),
            "a product: no algorithm was chosen for f32 NN 29x37x53 to f32, ld 29 53 29, aligned "
            "64 64 64");
  op.graph.arithmetic.products.algorithms[text(op.form())] = "something";
  EXPECT_EQ(mistake([&] { op.product(); }),
            "a product: what was chosen is no algorithm: something");
}

// The algorithm may depend on all that a form has.
TEST_F(CublasltChoices, differ_for_forms_that_differ) {
  std::set<std::string> texts;
  std::vector<ProductCase> cases(14, kOdd);
  cases[1].m = 38;
  cases[2].n = 30;
  cases[3].k = 54;
  cases[4].in = cases[4].out = DType::bf16;
  cases[5].in = DType::bf16;
  cases[6].transposed_a = true;
  cases[7].transposed_b = true;
  cases[8].gap = 1;
  cases[9].bias = true;
  cases[10].addend = true;
  cases[11].offset = 1;
  cases[12] = cases[9];
  cases[13] = cases[10];
  cases[12].added_offset = cases[13].added_offset = 1;
  for (auto const& of : cases) texts.insert(text(ProductOp(of).form()));
  EXPECT_EQ(texts.size(), cases.size());
}

// So that every algorithm may take it, however many rows it has.
TEST_F(CublasltChoices, let_a_column_alone_take_whole_lines) {
  ProductOp column({.m = 37, .n = 1, .k = 53}), row({.m = 1, .n = 37, .k = 53});
  EXPECT_EQ(column.form().result.leading, 64);
  EXPECT_FALSE(column.form().swapped);
  EXPECT_EQ(row.form().result.leading, 64);
  EXPECT_TRUE(row.form().swapped);
}

TEST_F(CublasltChoices, need_a_target_that_is_a_gpu) {
  ProductOp op(kOdd);
  op.graph.arithmetic.isa = "avx2";
  EXPECT_EQ(mistake([&] { op.choose(); }), "avx2: is no GPU's architecture");
}

// What cublasLt cannot add, a kernel adds to the sums in fp32.
TEST_F(CublasltChoices, leave_a_bias_of_another_type_to_a_kernel) {
  for (bool const bias : {true, false}) {
    ProductOp op({.m = 37, .n = 29, .k = 53, .in = DType::bf16, .bias = bias, .addend = !bias});
    auto const plan = spillway::cuda::matmul_plan(op.context(), op.op);
    EXPECT_TRUE(plan.adds_after);
    EXPECT_EQ(plan.form.bias_alignment_bytes, 0);
    EXPECT_FALSE(plan.form.addend.has_value());
  }
  ProductOp op({.m = 37, .n = 29, .k = 53, .in = DType::bf16, .out = DType::bf16, .bias = true});
  EXPECT_FALSE(spillway::cuda::matmul_plan(op.context(), op.op).adds_after);
}

TEST_F(CublasltChoices, are_not_made_for_what_the_library_lacks) {
  auto const dense = [](std::int64_t rows, std::int64_t columns, DType dtype = DType::f32) {
    return dense_matrix(dtype, rows, columns);
  };
  MatmulShape const good{.a = dense(3, 5), .b = dense(5, 7), .c = dense(3, 7)};
  auto const refusal = [](MatmulShape const& shape) {
    return mistake([&] { spillway::cuda::product_form(shape); });
  };
  EXPECT_EQ(refusal(good), "");
  auto shape = good;
  shape.b = dense(4, 7);
  EXPECT_EQ(refusal(shape), "a product: its extents and those of its factors do not fit together");
  shape = good;
  shape.b.dtype = DType::bf16;
  EXPECT_EQ(refusal(shape), "a product: its factors are both fp32 or both bf16");
  shape = good;
  shape.c.dtype = DType::bf16;
  EXPECT_EQ(refusal(shape), "a product: is fp32, or of the type of its factors");
  shape = good;
  shape.a.column_stride = 2;
  auto const gaps =
      "a product: neither the rows nor the columns of a factor lie one after the other without "
      "gaps";
  EXPECT_EQ(refusal(shape), gaps);
  shape.a.row_stride = 1;
  EXPECT_EQ(refusal(shape), gaps) << "its columns overlap";
  shape = good;
  shape.c.column_stride = 2;
  EXPECT_EQ(refusal(shape),
            "a product: neither its rows nor its columns lie one after the other without gaps");
  shape = good;
  shape.c = dense(7, 3).transposed();
  shape.bias = true;
  EXPECT_EQ(refusal(shape), "a product: a bias is added to one that lies by rows");
  shape.bias = false;
  auto addend = dense(3, 7);
  shape.addend = &addend;
  EXPECT_EQ(refusal(shape), "a product: its addend lies across its rows");
  addend = dense(7, 7);
  EXPECT_EQ(refusal(shape), "a product: its addend has other extents");
  shape.accumulate = true;
  EXPECT_EQ(refusal(shape), "a product: is added to one matrix");
  shape = {.a = dense(3, 5, DType::bf16), .b = dense(5, 7, DType::bf16), .c = dense(3, 7)};
  shape.bias = true;
  EXPECT_EQ(refusal(shape), "a product: cublasLt adds no bias or addend of bf16 to sums in fp32");
}

}  // namespace
}  // namespace spillway::test::cuda::cublaslt_choices_test
