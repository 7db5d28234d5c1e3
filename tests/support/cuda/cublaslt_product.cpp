#include "tests/support/cuda/cublaslt_product.hpp"

#include <library_types.h>

#include <cstring>
#include <vector>

#include "base/bf16.hpp"

namespace spillway::test::cuda {
namespace {

template <class T>
double load_as(std::byte const* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return to_float(value);
}

double load(std::int32_t type, std::byte const* at, std::int64_t element) {
  auto const* const there = at + element * element_bytes(type);
  return type == CUDA_R_16BF ? load_as<bf16>(there) : load_as<float>(there);
}

void store(std::int32_t type, std::byte* at, std::int64_t element, float value) {
  auto* const there = at + element * element_bytes(type);
  if (type == CUDA_R_16BF) {
    auto const rounded = to_bf16(value);
    std::memcpy(there, &rounded, sizeof rounded);
  } else {
    std::memcpy(there, &value, sizeof value);
  }
}

std::int64_t element_at(LtMatrix const& matrix, std::int64_t batch, std::int64_t row,
                        std::int64_t col) {
  return batch * matrix.batch_stride + row * matrix.row_stride + col * matrix.col_stride;
}

// Returns one matrix of a batch row by row.
std::vector<double> rows_of(LtMatrix const& matrix, std::byte const* at, std::int64_t batch) {
  std::vector<double> result;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t col = 0; col < matrix.cols; ++col)
      result.push_back(load(matrix.type, at, element_at(matrix, batch, row, col)));
  }
  return result;
}

double sum_of(LtProduct const& product, double const* row, double const* col) {
  auto const k = product.problem.k;
  auto const parts = product.splits;
  double all = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    double sum = 0;
    for (auto i = part * k / parts; i < (part + 1) * k / parts; ++i) sum += row[i] * col[i];
    all += parts == 1 ? sum : static_cast<double>(static_cast<float>(sum));
  }
  return all;
}

}  // namespace

void multiply(LtProduct const& product) {
  auto const& problem = product.problem;
  auto const& [a, b, c, d] = problem.matrices;
  for (std::int64_t batch = 0; batch < problem.batch_count; ++batch) {
    auto const rows = rows_of(a, product.a, batch);
    auto const cols = rows_of(transposed(b), product.b, batch);
    for (std::int64_t i = 0; i < problem.m; ++i) {
      for (std::int64_t j = 0; j < problem.n; ++j) {
        auto value = product.alpha * sum_of(product, &rows[static_cast<std::size_t>(i * problem.k)],
                                            &cols[static_cast<std::size_t>(j * problem.k)]);
        if (product.beta != 0)
          value += product.beta * load(c.type, product.c, element_at(c, batch, i, j));
        if (product.bias != nullptr)
          value += load(d.type, product.bias, batch * product.bias_batch_stride + i);
        store(d.type, product.d, element_at(d, batch, i, j), static_cast<float>(value));
      }
    }
  }
}

}  // namespace spillway::test::cuda
