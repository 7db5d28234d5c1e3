// Makes a PlanRequest from the words that input files use.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/data/open_plan.hpp"

namespace spillway::test {

struct PlanWords {
  std::vector<std::string> activations = {"auto"}, parameters = {"auto"}, gradients = {"auto"},
                           optimizer = {"auto"}, update = {"auto"}, shard = {"auto"};
  std::optional<int> prefetch = {}, group = {}, early = {};
  bool norm_is_awaited = true;

  // Throws std::invalid_argument for a word that is neither "auto" nor a value that its key may
  // have in input files.
  operator PlanRequest() const {
    PlanRequest request;
    request.activations = asked(activations, parse_block_plan);
    request.parameters = asked(parameters, parse_tier);
    request.gradients = asked(gradients, parse_tier);
    request.optimizer = asked(optimizer, parse_tier);
    request.update = asked(update, parse_tier);
    request.shard = asked(shard, parse_word<Shard>);
    request.prefetch = prefetch;
    request.group = group;
    request.early = early;
    request.norm_is_awaited = norm_is_awaited;
    return request;
  }

 private:
  template <class T>
  static Asked<T> asked(std::vector<std::string> const& words,
                        std::optional<T> (*parse)(std::string_view)) {
    Asked<T> result;
    for (auto const& word : words) {
      result.push_back(parse(word));
      if (!result.back() && word != kAuto) throw std::invalid_argument(word);
    }
    return result;
  }
};

}  // namespace spillway::test
