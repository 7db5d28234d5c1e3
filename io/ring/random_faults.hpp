// Storage that fails by a seed: what a ScriptedQueue is told where `debug.fault` asks for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "io/ring/scripted_queue.hpp"

namespace spillway {

// A seed chooses how bad things are, from nearly sound to hopeless: which share of operations fails
// with EIO or ENOSPC, comes back damaged, is cut short or interrupted, and which places of the file
// do so whenever they are asked. What becomes of an operation depends on its place and on how often
// the place has been asked before, not on time, so a seed gives the same faults again; the order in
// which operations end does not. Nothing but the constructor allocates.
class RandomFaults {
 public:
  explicit RandomFaults(std::uint64_t seed);

  std::optional<TransferFate> operator()(TransferRequest const& rest);

 private:
  bool lies_in_bad_place(TransferRequest const& rest) const;
  TransferFate failure(TransferRequest const& rest, std::uint32_t draw) const;

  std::uint64_t m_seed;
  double m_failing, m_bad_places;      // shares
  std::minstd_rand m_time;             // how long operations take, in times asked
  std::vector<std::uint32_t> m_asked;  // so often, by hash of direction and place
};

// Its file must be checked by checksums.
std::unique_ptr<TransferQueue> make_random_queue(int depth, std::uint64_t seed);

}  // namespace spillway
