// The model families, as small as tests want them: a suite about families runs for every row.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/support/tiny_gpt.hpp"

namespace spillway::test {

struct FamilyCase {
  std::string name;  // in names of tests
  Config config;     // fp32; suites change sizes and what else they are about
};

inline std::ostream& operator<<(std::ostream& out, FamilyCase const& family) {
  return out << family.name;
}

// Graphs come from `tiny_training_graph` of the config, what batches are made of from `vocabulary`
// of the graph.
inline std::vector<FamilyCase> family_cases() {
  return {{"Gpt", tiny_config()}};
}

}  // namespace spillway::test
