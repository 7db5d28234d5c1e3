// Runs a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "tests/support/ptx/code.hpp"
#include "tests/support/ptx/memory.hpp"

namespace spillway::test::ptx {

struct Dim {
  unsigned x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct LaunchSettings {
  Dim grid = {}, block = {};
  std::size_t dynamic_shared_bytes = 0;
  std::span<std::byte const> parameters = {};  // lie as Kernel::parameters says
  std::uint64_t seed = 1;    // decides the order of blocks, and the turns of warps and lanes
  bool global_races = true;  // looks for races, with 6 to 24 bytes for each byte that is touched
  // A launch that needs more is taken for one that runs for ever.
  std::uint64_t most_warp_instructions = std::uint64_t{1} << 31;
};

struct LaunchCounts {
  std::uint64_t thread_instructions = 0, warp_instructions = 0;
  std::uint64_t turns = 0;  // of warps; the seed decides how long each is
  // How many threads have come to each of Code::operations, also if its predicate was false.
  std::vector<std::uint64_t> by_instruction = {};
};

// A launch ends with a Complaint if its kernel does what CUDA forbids or does not promise. The text
// names kernel, line, instruction, thread and block.
class Complaint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns when the kernel has ended. Several threads may launch at once, on memory of their own.
// Throws Complaint, or std::invalid_argument if no launch may have these settings.
LaunchCounts launch(Code const& code, Memory const& memory, LaunchSettings const& settings);

}  // namespace spillway::test::ptx
