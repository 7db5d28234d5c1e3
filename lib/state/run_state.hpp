// A checkpoint's /run group says this besides the tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/arithmetic.hpp"

namespace spillway {

struct RunState {
  std::int64_t step = 0;     // steps done
  std::int64_t updates = 0;  // steps that were not skipped
  std::int64_t samples = 0;  // the data position: global samples used since the beginning
  std::int64_t tokens = 0;   // tokens with weight since the beginning
  std::uint64_t seed = 0;
  std::int64_t vocab = 0;
  std::string tokenizer;
  Arithmetic arithmetic;
  std::string config;  // the run's config.yaml

  bool operator==(RunState const&) const = default;
};

// The entries are texts by name, as io/h5's checkpoint files keep them.
std::map<std::string, std::string> to_texts(RunState const& state);
// Throws Error(damaged) naming `source` and the entry that is missing or cannot be.
RunState run_state(std::map<std::string, std::string> const& texts, std::string const& source);

}  // namespace spillway
