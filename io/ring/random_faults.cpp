#include "io/ring/random_faults.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/philox.hpp"

namespace spillway {
namespace {

// These are the shares of failing operations and of bad places for the worst seed. Half of all
// seeds have less than a sixteenth of these shares.
constexpr double kMostFailing = 0.2, kMostBadPlaces = 0.02;
constexpr float kShort = 0.2f, kInterrupted = 0.05f;
constexpr std::int64_t kPlaceBytes = std::int64_t{64} << 10;  // the length of a bad place
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kCounters = 4096;

// Each purpose draws its random numbers with a key of its own.
constexpr std::uint64_t kOfSeed = 0, kOfPlace = 1, kOfOperation = 2;

std::uint64_t key(TransferRequest const& rest, std::int64_t offset_bytes) {
  return 2 * static_cast<std::uint64_t>(offset_bytes) + (rest.direction == Direction::read ? 0 : 1);
}

// Returns how many bytes are moved of a request that is cut short. If the request consists of whole
// pages, it may go by direct I/O, so whole pages are moved.
std::int64_t part(TransferRequest const& rest, std::uint32_t draw) {
  auto const size = rest.memory.size();
  auto const unit = size % kPageBytes == 0 ? kPageBytes : 1;
  return static_cast<std::int64_t>(unit * (1 + draw % (size / unit)));
}

}  // namespace

RandomFaults::RandomFaults(std::uint64_t seed)
    : m_seed(seed),
      m_time(static_cast<std::minstd_rand::result_type>(seed + 1)),
      m_asked(kCounters) {
  auto const draws = philox(seed, kOfSeed, 0);
  m_failing = kMostFailing * std::pow(uniform01(draws.x[0]), 4);
  m_bad_places = kMostBadPlaces * std::pow(uniform01(draws.x[1]), 4);
}

std::optional<TransferEnding> RandomFaults::operator()(TransferRequest const& rest) {
  if (m_time() % 2 == 0) return {};
  auto const place = key(rest, rest.offset_bytes);
  auto const hash = philox(0, 0, place).x[0] % kCounters;
  auto const draws = philox(m_seed, kOfOperation + m_asked[hash]++, place);
  if (lies_in_bad_place(rest)) return failure(rest, philox(m_seed, kOfPlace, place).x[1]);
  auto const luck = uniform01(draws.x[0]);
  if (luck < m_failing) return failure(rest, draws.x[1]);
  auto const haste = uniform01(draws.x[2]);
  if (haste < kInterrupted) return draws.x[3] % 2 == 0 ? -EINTR : -EAGAIN;
  if (haste < kInterrupted + kShort) return part(rest, draws.x[3]);
  return std::ssize(rest.memory);
}

bool RandomFaults::lies_in_bad_place(TransferRequest const& rest) const {
  auto const place = key(rest, rest.offset_bytes / kPlaceBytes);
  return uniform01(philox(m_seed, kOfPlace, place).x[0]) < m_bad_places;
}

TransferEnding RandomFaults::failure(TransferRequest const& rest, std::uint32_t draw) const {
  if (draw % 3 == 0) return {std::ssize(rest.memory), true};
  bool const full = draw % 3 == 1 && rest.direction == Direction::write;
  return full ? -ENOSPC : -EIO;
}

std::unique_ptr<TransferQueue> make_random_queue(int depth, std::uint64_t seed) {
  return std::make_unique<ScriptedQueue>(depth, seed, RandomFaults(seed));
}

}  // namespace spillway
