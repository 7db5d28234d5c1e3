// A RunState is what a checkpoint's /run group stores besides the tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/arithmetic.hpp"

namespace spillway {

struct RunState {
  std::int64_t step = 0;     // steps that were done
  std::int64_t updates = 0;  // steps that were not skipped
  std::int64_t samples = 0;  // samples that all ranks have used; the next one has this position
  std::int64_t tokens = 0;   // tokens with a weight above 0 since the beginning
  std::uint64_t seed = 0;
  std::int64_t vocab = 0;
  std::string tokenizer;
  Arithmetic arithmetic;
  std::string config;  // the text of the run's config.yaml

  bool operator==(RunState const&) const = default;
};

// Returns texts by name, the form in which checkpoint files of io/h5 store them.
std::map<std::string, std::string> to_texts(RunState const& state);
// Throws Error(damaged), which names `source` and the entry that is missing or invalid.
RunState run_state(std::map<std::string, std::string> const& texts, std::string const& source);

}  // namespace spillway
