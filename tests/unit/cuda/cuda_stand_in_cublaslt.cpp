// Products of the stand-in's cublasLt against plain loops over plain numbers.
#include <random>

#include "base/bf16.hpp"
#include "tests/unit/cuda/cublaslt_case.hpp"

namespace spillway::test::cuda::cuda_stand_in_cublaslt_test {
namespace {

// A matrix, or a batch of them, as it lies in memory; gaps hold numbers that nobody may use.
struct Stored {
  Stored(cudaDataType_t type, std::size_t rows, std::size_t cols, std::size_t gap, bool by_rows,
         std::size_t batch)
      : type(type),
        rows(rows),
        cols(cols),
        ld((by_rows ? cols : rows) + gap),
        stride(ld * (by_rows ? rows : cols) + gap),
        batch(batch),
        by_rows(by_rows),
        values(stride * batch, 77) {}

  float& at(std::size_t b, std::size_t row, std::size_t col) {
    return values[b * stride + (by_rows ? row * ld + col : col * ld + row)];
  }
  float read(std::size_t b, std::size_t row, std::size_t col, bool transposed) {
    return transposed ? at(b, col, row) : at(b, row, col);
  }
  // Quarters of small integers: products and sums of them are exact in every order.
  void draw(std::mt19937& random) {
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t col = 0; col < cols; ++col)
          at(b, row, col) = static_cast<float>(static_cast<int>(random() % 17) - 8) / 4;
      }
    }
  }
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> result(values.size() * (type == CUDA_R_16BF ? 2 : 4));
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto const rounded = to_bf16(values[i]);
      if (type == CUDA_R_16BF) {
        std::memcpy(&result[2 * i], &rounded, 2);
      } else {
        std::memcpy(&result[4 * i], &values[i], 4);
      }
    }
    return result;
  }
  // Its layout for cublasLt. What lies by rows is either said to, or is its transpose by columns.
  TestLayout layout(bool says_order) const {
    bool const turned = by_rows && !says_order;
    TestLayout result(type, turned ? cols : rows, turned ? rows : cols, std::int64_t(ld));
    result.set_batch(int(batch), std::int64_t(stride));
    auto const order = by_rows && says_order ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    EXPECT_EQ(result.set(CUBLASLT_MATRIX_LAYOUT_ORDER, order), CUBLAS_STATUS_SUCCESS);
    return result;
  }

  cudaDataType_t type;
  std::size_t rows, cols, ld, stride, batch;
  bool by_rows;
  std::vector<float> values;
};

struct Wanted {
  std::size_t m, n, k;
  cudaDataType_t in = CUDA_R_32F, out = CUDA_R_32F;
  bool transposed_a = false, transposed_b = false, by_rows = false;
  std::size_t gap = 0, batch = 1;
  float alpha = 1, beta = 0;
  bool bias = false;
};

struct Numbers {
  explicit Numbers(Wanted const& w)
      : a(w.in, w.transposed_a ? w.k : w.m, w.transposed_a ? w.m : w.k, w.gap, w.by_rows, w.batch),
        b(w.in, w.transposed_b ? w.n : w.k, w.transposed_b ? w.k : w.n, w.gap, w.by_rows, w.batch),
        d(w.out, w.m, w.n, w.gap, w.by_rows, w.batch),
        bias(w.out, w.m, 1, 0, false, 1) {
    std::mt19937 random(1);
    for (auto* const stored : {&a, &b, &d, &bias}) stored->draw(random);
  }
  Stored expected(Wanted const& w) {
    auto result = d;
    for (std::size_t batch = 0; batch < w.batch; ++batch) {
      for (std::size_t i = 0; i < w.m; ++i) {
        for (std::size_t j = 0; j < w.n; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k < w.k; ++k)
            sum +=
                double{a.read(batch, i, k, w.transposed_a)} * b.read(batch, k, j, w.transposed_b);
          auto value = w.alpha * sum + w.beta * d.at(batch, i, j);
          if (w.bias) value += bias.at(0, i, 0);
          result.at(batch, i, j) = static_cast<float>(value);
        }
      }
    }
    return result;
  }
  Stored a, b, d, bias;
};

class CudaStandInCublasLt : public CudaStandIn {
 protected:
  void set(std::size_t at, std::vector<std::byte> const& bytes) const {
    copy(device.at(at), bytes.data(), bytes.size(), stream);
  }
  std::vector<std::byte> get(std::size_t at, std::size_t bytes) const {
    std::vector<std::byte> result(bytes);
    copy(result.data(), device.at(at), bytes, stream);
    return result;
  }
  void expect_result(Wanted const& w, Numbers& numbers, LtCase const& lt, LtCall const& call) {
    auto const expected = numbers.expected(w).bytes();
    auto const algorithms = lt.algorithms(handle, 1 << 20);
    EXPECT_FALSE(algorithms.empty());
    for (auto const& one : algorithms) {
      set(kD, numbers.d.bytes());
      EXPECT_EQ(multiply(handle, lt, one.algo, call, stream), CUBLAS_STATUS_SUCCESS);
      EXPECT_TRUE(get(kD, expected.size()) == expected)
          << w.m << " x " << w.n << " x " << w.k << (w.transposed_a ? " T" : " N")
          << (w.transposed_b ? "T" : "N") << (w.by_rows ? ", rows" : ", columns");
    }
    expect_no_complaints();
  }
  // Multiplies with every algorithm that there is; `swapped` computes what lies by rows as its
  // transpose, D^T = B^T A^T, which lies by columns.
  void expect_product(Wanted const& w, bool swapped = false) {
    Numbers numbers(w);
    set(kA, numbers.a.bytes());
    set(kB, numbers.b.bytes());
    set(kBias, numbers.bias.bytes());
    LtCase const lt{{},
                    (swapped ? numbers.b : numbers.a).layout(!swapped),
                    (swapped ? numbers.a : numbers.b).layout(!swapped),
                    numbers.d.layout(!swapped)};
    lt.matmul.transpose(swapped ? w.transposed_b : w.transposed_a,
                        swapped ? w.transposed_a : w.transposed_b);
    if (w.bias) lt.matmul.add_bias(device.at(kBias));
    expect_result(w, numbers, lt,
                  {.a = device.at(swapped ? kB : kA),
                   .b = device.at(swapped ? kA : kB),
                   .c = device.at(kD),
                   .d = device.at(kD),
                   .alpha = w.alpha,
                   .beta = w.beta,
                   .workspace = device.at(kWorkspace),
                   .workspace_bytes = 1 << 20});
  }

  static constexpr std::size_t kA = 0, kB = 1 << 18, kD = 2 << 18, kBias = 3 << 18,
                               kWorkspace = 1 << 20;
  DeviceGranule device;
  TestStream stream;
  TestLtHandle handle;
};

TEST_F(CudaStandInCublasLt, multiplies_odd_sizes_in_all_transpositions) {
  for (int const pair : {0, 1, 2, 3}) {
    bool const a = (pair & 1) != 0, b = (pair & 2) != 0;
    expect_product({.m = 5, .n = 7, .k = 3, .transposed_a = a, .transposed_b = b});
    expect_product({.m = 1, .n = 33, .k = 131, .transposed_a = a, .transposed_b = b, .gap = 3});
    expect_product({.m = 16, .n = 24, .k = 200, .transposed_a = a, .transposed_b = b, .gap = 8});
  }
}

TEST_F(CudaStandInCublasLt, has_the_types_of_a_transformer) {
  for (auto const out : {CUDA_R_16BF, CUDA_R_32F}) {
    expect_product({.m = 13, .n = 6, .k = 9, .in = CUDA_R_16BF, .out = out, .gap = 1});
    expect_product({.m = 24, .n = 8, .k = 128, .in = CUDA_R_16BF, .out = out, .bias = true});
  }
}

TEST_F(CudaStandInCublasLt, scales_adds_and_repeats) {
  expect_product({.m = 6, .n = 4, .k = 5, .gap = 2, .alpha = 0.5f, .beta = -2});
  expect_product({.m = 8, .n = 12, .k = 5, .alpha = -1, .beta = 1, .bias = true});
  expect_product({.m = 9, .n = 4, .k = 130, .transposed_b = true, .gap = 3, .batch = 3, .beta = 1});
  expect_product({.m = 8, .n = 8, .k = 128, .in = CUDA_R_16BF, .batch = 4, .bias = true});
}

// As the product of rows will be made: B and A change places, and all matrices lie by columns.
TEST_F(CudaStandInCublasLt, multiplies_what_lies_by_rows) {
  for (int const pair : {0, 1, 2, 3}) {
    bool const a = (pair & 1) != 0, b = (pair & 2) != 0;
    for (bool const swapped : {false, true}) {
      for (std::size_t const gap : {0, 5}) {
        expect_product({.m = 7,
                        .n = 10,
                        .k = 129,
                        .in = CUDA_R_16BF,
                        .transposed_a = a,
                        .transposed_b = b,
                        .by_rows = true,
                        .gap = gap,
                        .batch = 2,
                        .alpha = 2,
                        .beta = 1},
                       swapped);
      }
    }
  }
}

TEST_F(CudaStandInCublasLt, a_matrix_without_a_batch_stride_serves_the_whole_batch) {
  Wanted const w{.m = 4, .n = 4, .k = 8, .batch = 3};
  Numbers numbers(w);
  for (std::size_t b = 1; b < w.batch; ++b) {
    for (std::size_t i = 0; i < numbers.b.stride; ++i)
      numbers.b.values[b * numbers.b.stride + i] = numbers.b.values[i];
  }
  set(kA, numbers.a.bytes());
  auto only = numbers.b;
  only.values.resize(only.stride);
  set(kB, only.bytes());
  LtCase const lt{{}, numbers.a.layout(true), numbers.b.layout(true), numbers.d.layout(true)};
  lt.b.set_batch(3, 0);
  expect_result(w, numbers, lt,
                {.a = device.at(kA), .b = device.at(kB), .c = device.at(kD), .d = device.at(kD)});
}

// Without beta C may hold what it likes, and the gaps of D are nobody's.
TEST_F(CudaStandInCublasLt, beta_zero_does_not_read_c) {
  LtCase const lt{{}, {CUDA_R_32F, 4, 4, 4}, {CUDA_R_32F, 4, 4, 4}, {CUDA_R_32F, 4, 4, 8}};
  auto const algo = lt.algorithms(handle, 0).front().algo;
  fill(device.at(kA), 0, 64, stream);
  fill(device.at(kB), 0, 64, stream);
  fill(device.at(kD), 0xff, 128, stream);
  LtCall call{.a = device.at(kA), .b = device.at(kB), .c = device.at(kD), .d = device.at(kD)};
  EXPECT_EQ(multiply(handle, lt, algo, call, stream), CUBLAS_STATUS_SUCCESS);
  auto bytes = get(kD, 112);
  EXPECT_TRUE(all_are(std::span(bytes).first(16), 0));
  EXPECT_TRUE(all_are(std::span(bytes).subspan(16, 16), 0xff));
  EXPECT_TRUE(all_are(std::span(bytes).subspan(32, 16), 0));
  call.beta = 1;
  EXPECT_EQ(multiply(handle, lt, algo, call, stream), CUBLAS_STATUS_SUCCESS);
  auto sums = get(kD, 16);
  EXPECT_TRUE(all_are(std::span(sums), 0)) << "zeros were added to zeros";
  expect_no_complaints();
}

// The sum of one part is rounded once; parts are rounded one by one, so the algorithm is seen.
TEST_F(CudaStandInCublasLt, algorithms_differ_in_bits) {
  constexpr std::size_t k = 256, m = 16;
  std::vector<float> left(k * m), right(k), expected(m);
  for (std::size_t i = 0; i < k; ++i) right[i] = 1 / static_cast<float>(2 * i + 1);
  for (std::size_t row = 0; row < m; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      left[row * k + i] = 1 / static_cast<float>(i + row + 3);
      sum += double{left[row * k + i]} * right[i];
    }
    expected[row] = static_cast<float>(sum);
  }
  copy(device.at(kA), left.data(), 4 * k * m, stream);
  copy(device.at(kB), right.data(), 4 * k, stream);
  LtCase const lt{{}, {CUDA_R_32F, k, m, k}, {CUDA_R_32F, k, 1, k}, {CUDA_R_32F, m, 1, m}};
  lt.matmul.transpose(true, false);
  std::vector<std::vector<float>> found;
  for (auto const& one : lt.algorithms(handle, 1 << 20)) {
    LtCall const call{.a = device.at(kA),
                      .b = device.at(kB),
                      .c = device.at(kD),
                      .d = device.at(kD),
                      .workspace = device.at(kWorkspace),
                      .workspace_bytes = one.workspaceSize};
    EXPECT_EQ(multiply(handle, lt, one.algo, call, stream), CUBLAS_STATUS_SUCCESS);
    copy(found.emplace_back(m).data(), device.at(kD), 4 * m, stream);
  }
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NE(found[0], expected);
  for (std::size_t row = 0; row < m; ++row) EXPECT_NEAR(found[0][row], expected[row], 1e-6);
  EXPECT_EQ(found[1], expected);
  EXPECT_EQ(found[2], expected);
  expect_no_complaints();
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_stand_in_cublaslt_test
