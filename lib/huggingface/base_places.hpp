// Says where the weights may lie beside which adapters were made, or what else a checkpoint leaves
// in its base.
#pragma once

#include <string>
#include <vector>

namespace spillway {

// Says where a base may lie now that is not where its user says.
struct BasePlaces {
  std::string given = {};                // what --base names: no other place counts
  std::vector<std::string> starts = {};  // what model.import and run.init name
};

}  // namespace spillway
