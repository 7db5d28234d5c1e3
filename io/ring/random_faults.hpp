// Simulates storage that fails at random, for tests and the key `debug.fault` of the input file. A
// seed decides which faults occur.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "io/ring/scripted_queue.hpp"

namespace spillway {

// The seed chooses how bad storage is, from nearly sound to hopeless: which share of operations
// fails with EIO or ENOSPC or damages bytes, and which places of the file always fail. A fixed
// share of the other operations is cut short or interrupted. How an operation ends depends on its
// direction and offset and on how often they were used before, not on time, so a seed gives the
// same faults in every run, though not the same order in which operations end. Only the constructor
// allocates.
class RandomFaults {
 public:
  explicit RandomFaults(std::uint64_t seed);

  std::optional<TransferEnding> operator()(TransferRequest const& rest);

 private:
  bool lies_in_bad_place(TransferRequest const& rest) const;
  TransferEnding failure(TransferRequest const& rest, std::uint32_t draw) const;

  std::uint64_t m_seed;
  double m_failing, m_bad_places;      // shares of operations and of places that fail, 0 to 1
  std::minstd_rand m_time;             // decides whether an operation ends now or later
  std::vector<std::uint32_t> m_asked;  // how often each hash of direction and offset was used
};

// Makes a queue in which a RandomFaults with this seed decides how operations end. Readers must
// verify what they read, because bytes may be damaged.
std::unique_ptr<TransferQueue> make_random_queue(int depth, std::uint64_t seed);

}  // namespace spillway
