#include "kernels/host/row_product.hpp"

#include "base/check.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/portable/launch.hpp"

namespace spillway::host {
namespace {

Label const label = "spillway::matmul row";

constexpr std::int64_t kColumns = 64;  // columns of c that one unit of work computes
constexpr int kLanes = 32;             // number of partial sums of an element of c

// Returns the dot product of a and b. Element k is added to partial sum k mod kLanes.
template <class T>
float dot(T const* __restrict__ a, T const* __restrict__ b, std::int64_t depth) {
  alignas(64) float lane[kLanes] = {};
  auto const whole = depth / kLanes * kLanes;
  for (std::int64_t k = 0; k < whole; k += kLanes)
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) lane[l] += to_float(a[k + l]) * to_float(b[k + l]);
  for (auto k = whole; k < depth; ++k) lane[k - whole] += to_float(a[k]) * to_float(b[k]);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
  return lane[0];
}

template <class T, class C>
struct Row {
  T const *a, *b, *bias, *addend;  // bias and addend may be null
  C* c;
  MatrixLayout layout;  // the layout of b

  void operator()(std::int64_t unit) const {
    auto const first = unit * kColumns, n = std::min(kColumns, layout.columns - first);
    float sums[kColumns] = {};
    if (layout.row_stride == 1) {
      for (std::int64_t j = 0; j < n; ++j)
        sums[j] = dot(a, b + (first + j) * layout.column_stride, layout.rows);
    } else {
      for (std::int64_t k = 0; k < layout.rows; ++k)
        add(to_float(a[k]), b + k * layout.row_stride + first, sums, n);
    }
    store_sums(sums, first, n);
  }

 private:
  static void add(float factor, T const* __restrict__ row, float* __restrict__ sums,
                  std::int64_t n) {
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) sums[j] += factor * to_float(row[j]);
  }

  void store_sums(float* sums, std::int64_t first, std::int64_t n) const {
    for (auto const* more : {bias, addend})
      if (more)
        for (std::int64_t j = 0; j < n; ++j) sums[j] += to_float(more[first + j]);
    for (std::int64_t j = 0; j < n; ++j) c[first + j] = store<C>(sums[j]);
  }
};

}  // namespace

bool RowProduct::offers(MatmulShape const& shape) {
  bool const is_row = shape.a.rows == 1 && shape.a.column_stride == 1 && shape.c.column_stride == 1;
  bool const adds_row = shape.addend == nullptr || shape.addend->column_stride == 1;
  bool const is_plain = shape.b.row_stride == 1 || shape.b.column_stride == 1;
  return is_row && adds_row && is_plain && !shape.accumulate;
}

RowProduct::RowProduct(MatmulShape const& shape) : m_b(shape.b), m_c(shape.c.dtype) {
  check(offers(shape), "a product of one row", "it is of another shape");
}

void RowProduct::operator()(Exec const& exec, MatmulOperands const& given) const {
  auto const run = [&]<class T, class C>(T, C) {
    auto const as_row = [](void const* data) { return static_cast<T const*>(data); };
    Row<T, C> const row{as_row(given.a),      as_row(given.b),          as_row(given.bias),
                        as_row(given.addend), static_cast<C*>(given.c), m_b};
    for_each_unit(exec, label, div_ceil(m_b.columns, kColumns), row);
  };
  dispatch(run, m_b.dtype, m_c);
}

}  // namespace spillway::host
