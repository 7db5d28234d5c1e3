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

  // Returns all places, the likeliest first, of a base that its user says is at one of `said`, and
  // at last may be at one of `others`.
  std::vector<std::string> in_order(std::vector<std::string> said,
                                    std::vector<std::string> const& others = {}) const {
    if (!given.empty()) return {given};
    said.insert(said.end(), starts.begin(), starts.end());
    said.insert(said.end(), others.begin(), others.end());
    return said;
  }
};

}  // namespace spillway
