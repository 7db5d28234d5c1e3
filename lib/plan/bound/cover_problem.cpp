#include "plan/bound/cover_problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plan/bound/dual_simplex.hpp"

namespace spillway {

int CoverProblem::add_variable(double cost, double most) {
  m_variables.push_back({cost, most, {}});
  return static_cast<int>(m_variables.size()) - 1;
}

int CoverProblem::add_row(double least) {
  m_least.push_back(least);
  return static_cast<int>(m_least.size()) - 1;
}

void CoverProblem::add(int row, int variable, double amount) {
  if (amount == 0) return;
  auto& entries = m_variables[static_cast<std::size_t>(variable)].entries;
  auto const found = std::ranges::find(entries, row, &Entry::row);
  if (found == entries.end())
    entries.push_back({row, amount});
  else
    found->amount += amount;
}

void CoverProblem::raise(int row, double least) {
  m_least[static_cast<std::size_t>(row)] += least;
}

// Most variables cost nothing. Different costs, far below all others, keep pivots from going round
// in a circle.
CoverProblem::Proof CoverProblem::solve() const {
  std::vector<double> costs;
  double spread = 0;
  for (Variable const& variable : m_variables) {
    spread = std::fmod(spread + 0.618034, 1.0);
    costs.push_back(variable.cost + 1e-8 * (0.5 + spread));
  }
  Dictionary dictionary(m_least.size(), std::move(costs));
  for (std::size_t row = 0; row < m_least.size(); ++row) dictionary.constant(row) = -m_least[row];
  for (std::size_t column = 0; column < m_variables.size(); ++column) {
    for (auto const& [row, amount] : m_variables[column].entries)
      dictionary.at(static_cast<std::size_t>(row), column) = amount;
  }
  // Pivots lose digits, so that the last weights may prove less than earlier ones.
  constexpr int between_proofs = 16;
  auto const most_pivots = static_cast<int>(10 * (m_least.size() + m_variables.size()));
  auto best = proof(dictionary.slack_costs());
  for (int pivots = 0, more = between_proofs; more == between_proofs && pivots < most_pivots;) {
    pivots += more = dictionary.solve(between_proofs);
    auto next = proof(dictionary.slack_costs());
    if (next.bound > best.bound) best = std::move(next);
    best.pivots = pivots;
  }
  return best;
}

double CoverProblem::paid(Variable const& variable, std::vector<double> const& weights) const {
  double sum = 0;
  for (auto const& [row, amount] : variable.entries)
    sum += amount * weights[static_cast<std::size_t>(row)];
  return sum;
}

CoverProblem::Proof CoverProblem::proof(std::vector<double> weights) const {
  double least_scale = 1;
  for (Variable const& variable : m_variables) {
    double const pay = paid(variable, weights);
    if (variable.most == kNoMost && pay > variable.cost)
      least_scale = std::min(least_scale, variable.cost / pay);
  }
  for (double& weight : weights) weight *= least_scale;
  double bound = 0;
  for (std::size_t row = 0; row < m_least.size(); ++row) bound += weights[row] * m_least[row];
  for (Variable const& variable : m_variables) {
    double const excess = paid(variable, weights) - variable.cost;
    if (variable.most != kNoMost && excess > 0) bound -= excess * variable.most;
  }
  return {bound, std::move(weights)};
}

}  // namespace spillway
