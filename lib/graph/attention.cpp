#include "graph/attention.hpp"

#include <algorithm>

namespace spillway {

double visible_pairs(AttentionAttributes const& a) {
  auto const queries = static_cast<double>(a.queries), keys = static_cast<double>(a.keys);
  if (!a.causal && a.window == 0) return queries * keys;
  if (a.queries != a.keys)
    return queries * (a.window > 0 ? std::min(static_cast<double>(a.window), keys) : keys);
  // Up to its own row a query sees at most `most` keys; the first queries see fewer.
  double const most = a.window > 0 ? std::min(static_cast<double>(a.window), queries) : queries;
  double const behind = most * queries - most * (most - 1) / 2;
  return a.causal ? behind : 2 * behind - queries;
}

}  // namespace spillway
