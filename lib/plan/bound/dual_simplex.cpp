#include "plan/bound/dual_simplex.hpp"

#include <algorithm>
#include <numeric>

namespace spillway {

namespace {

constexpr double kZero = 1e-9;  // amounts and coefficients of about 1 that are less count as 0

}  // namespace

Dictionary::Dictionary(std::size_t rows, std::vector<double> costs)
    : m_rows(rows),
      m_width(costs.size() + 1),
      m_cells(rows * m_width, 0),
      m_costs(std::move(costs)),
      m_basic(rows),
      m_nonbasic(m_costs.size(), -1) {
  std::iota(m_basic.begin(), m_basic.end(), 0);
}

int Dictionary::solve(int most_pivots) {
  for (int pivots = 0; pivots < most_pivots; ++pivots) {
    int const row = leaving_row();
    if (row < 0) return pivots;
    int const column = entering_column(static_cast<std::size_t>(row));
    if (column < 0) return pivots;
    pivot(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
  }
  return most_pivots;
}

int Dictionary::leaving_row() const {
  int result = -1;
  double least = -kZero;
  for (std::size_t row = 0; row < m_rows; ++row) {
    double const constant = m_cells[(row + 1) * m_width - 1];
    if (constant >= least) continue;
    least = constant;
    result = static_cast<int>(row);
  }
  return result;
}

// Of columns that are equally cheap the one with the largest coefficient loses fewest digits.
int Dictionary::entering_column(std::size_t row) const {
  auto const* const cells = &m_cells[row * m_width];
  int result = -1;
  double least = 0, largest = 0;
  for (std::size_t column = 0; column < m_costs.size(); ++column) {
    double const cell = cells[column];
    if (cell <= kZero) continue;
    double const ratio = m_costs[column] / cell;
    if (result >= 0 && (ratio > least || (ratio == least && cell <= largest))) continue;
    least = ratio;
    largest = cell;
    result = static_cast<int>(column);
  }
  return result;
}

void Dictionary::pivot(std::size_t row, std::size_t column) {
  auto* const own = &m_cells[row * m_width];
  double const inverse = 1 / own[column];
  for (std::size_t j = 0; j < m_width; ++j) own[j] *= -inverse;
  own[column] = inverse;
  auto const replace = [&](double* cells, std::size_t width) {
    double const factor = cells[column];
    if (factor == 0) return;
    cells[column] = 0;
    for (std::size_t j = 0; j < width; ++j) cells[j] += factor * own[j];
  };
  for (std::size_t i = 0; i < m_rows; ++i)
    if (i != row) replace(&m_cells[i * m_width], m_width);
  replace(m_costs.data(), m_costs.size());
  for (double& cost : m_costs) cost = std::max(0.0, cost);
  std::swap(m_basic[row], m_nonbasic[column]);
}

std::vector<double> Dictionary::slack_costs() const {
  std::vector<double> result(m_rows, 0);
  for (std::size_t column = 0; column < m_nonbasic.size(); ++column)
    if (m_nonbasic[column] >= 0)
      result[static_cast<std::size_t>(m_nonbasic[column])] = m_costs[column];
  return result;
}

}  // namespace spillway
