// Runs the blocks of a launch, the warps of a block by turns.
#pragma once

#include <random>
#include <vector>

#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

class BlockRun {
 public:
  explicit BlockRun(Run& run);  // must end before the Run does

  void run(std::uint64_t number);  // runs the block of this number in the grid

 private:
  struct alignas(kSlotBytes) Line {
    std::byte bytes[kSlotBytes];
  };

  void fill_constants(Warp const& warp) const;
  void begin(std::uint64_t number);
  void begin_warp(Warp& warp) const;
  void run_turns();
  void add_ready();

  Run& m_run;
  Block m_block;
  std::mt19937_64 m_random;
  unsigned m_threads;
  std::vector<Line> m_lines;   // holds the registers of all warps
  std::vector<Lanes> m_known;  // says for each of these lines which lanes are known
  bool m_has_clocks;
  std::vector<Warp*> m_ready = {};
};

}  // namespace spillway::test::ptx
