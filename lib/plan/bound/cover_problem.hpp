// A CoverProblem is a linear programme: it asks for the least cost of amounts that cover all rows.
#pragma once

#include <limits>
#include <vector>

namespace spillway {

// Minimises the sum of cost * amount over all variables. No amount is negative, none needs to be
// more than the variable's `most`, and the sum of each row is at least the row's `least`.
class CoverProblem {
 public:
  static constexpr double kNoMost = std::numeric_limits<double>::infinity();

  // These return the numbers of what they add. No cost may be negative, and a variable without a
  // `most` must have one above 0.
  int add_variable(double cost, double most);
  int add_row(double least);
  // Changes what a unit of the variable adds to the row, or the least that the row needs.
  void add(int row, int variable, double amount);
  void raise(int row, double least);

  // A Proof has a weight for each row, none of them negative. The rows' `least`, times the weights,
  // sum up to a lower bound of the cost once each variable that the weights pay more than its cost
  // has been charged for at its `most`. So `bound` holds whatever rounding did to the weights.
  struct Proof {
    double bound = 0;
    std::vector<double> weights;
    int pivots = 0;
  };
  // Returns a Proof of the largest bound or, after very many pivots, of one that is about as large.
  // If no amounts cover all rows, the bound has no meaning but that of a large number.
  Proof solve() const;

 private:
  struct Entry {
    int row;
    double amount;
  };
  struct Variable {
    double cost, most;
    std::vector<Entry> entries;
  };
  double paid(Variable const& variable, std::vector<double> const& weights) const;
  Proof proof(std::vector<double> weights) const;

  std::vector<Variable> m_variables;
  std::vector<double> m_least;
};

}  // namespace spillway
