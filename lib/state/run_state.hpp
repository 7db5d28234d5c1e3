// A RunState is what a checkpoint stores besides tensors: counts, settings and texts of the run.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/arithmetic.hpp"

namespace spillway {

// Says where the weights are that a checkpoint does not hold, since its run does not train them: in
// a directory of Hugging Face or another checkpoint, with these checksums of their bytes.
struct BaseReference {
  std::string path = {};  // empty: the checkpoint holds all weights
  std::map<std::string, std::string> sums = {};
  std::string from_run = {};  // the path as seen from the run's directory; empty: not known

  bool operator==(BaseReference const&) const = default;
};

struct RunState {
  std::int64_t step = 0;     // counts the steps that were done
  std::int64_t updates = 0;  // counts the steps that updated parameters
  std::int64_t samples = 0;  // counts samples used by all ranks, and is the next one's number
  std::int64_t tokens = 0;   // counts tokens of the text, whatever was predicted of them
  std::uint64_t seed = 0;
  std::int64_t vocab = 0;
  std::string tokenizer;
  std::string tokenizer_checksum = {};  // empty: not known
  Arithmetic arithmetic;
  std::string config;  // the text of the run's configuration
  BaseReference base = {};
  std::string data = {};  // which text its samples are of, as JSON (lib/samples); empty: not known

  bool operator==(RunState const&) const = default;
};

// Returns the entries of a RunState as texts by name, as checkpoint files (see io/h5) store them.
std::map<std::string, std::string> to_texts(RunState const& state);
// Reads the entries of a BaseReference. Throws Error(damaged) as run_state.
BaseReference base_reference(std::map<std::string, std::string> const& texts,
                             std::string const& source);
// Reads a RunState. Throws Error(damaged) that names `source` and a missing or invalid entry.
RunState run_state(std::map<std::string, std::string> const& texts, std::string const& source);

}  // namespace spillway
