// Where a search begins decides in part what it finds.
#pragma once

#include <vector>

#include "plan/search/solve.hpp"

namespace spillway {

// Returns the question's request with one key decided that it leaves open, for each key and each of
// its values. A search that has less to decide looks at more of the rest, so what it finds is often
// better than what the search finds that has all to decide.
std::vector<PlanRequest> with_one_key_decided(PlanQuestion const& question);

}  // namespace spillway
