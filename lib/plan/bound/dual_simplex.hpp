// Solves linear programmes of a few hundred rows by the dual simplex method on a dense dictionary
// (Vanderbei, Linear Programming, chapters 2 and 5).
#pragma once

#include <cstddef>
#include <vector>

namespace spillway {

// A Dictionary expresses basic variables by nonbasic ones: each row is a constant plus a sum of
// coefficients times nonbasic variables. At first, the basic variables are the rows' slacks.
class Dictionary {
 public:
  // The costs of the columns must not be negative.
  Dictionary(std::size_t rows, std::vector<double> costs);

  double& at(std::size_t row, std::size_t column) { return m_cells[row * m_width + column]; }
  double& constant(std::size_t row) { return at(row, m_width - 1); }

  // Pivots until no row's constant is negative, or no column can make it more, or until there were
  // `most_pivots`. The costs stay as they must be. Returns how often it has pivoted.
  int solve(int most_pivots);
  // Returns the cost of each row's slack, or 0 if the slack is basic. These are the dual values.
  std::vector<double> slack_costs() const;

 private:
  int leaving_row() const;
  int entering_column(std::size_t row) const;
  void pivot(std::size_t row, std::size_t column);

  std::size_t m_rows, m_width;  // a row's constant lies behind its coefficients
  std::vector<double> m_cells, m_costs;
  std::vector<int> m_basic, m_nonbasic;  // slacks count from 0, other variables are -1
};

}  // namespace spillway
