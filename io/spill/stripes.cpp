#include "io/spill/stripes.hpp"

#include <limits>

#include "base/math.hpp"

namespace spillway {

Stripes::Place Stripes::place(std::int64_t address) const {
  if (m_files == 1) return {0, address, std::numeric_limits<std::int64_t>::max() - address};
  auto const stripe = address / kStripeBytes, within = address % kStripeBytes;
  return {static_cast<std::size_t>(stripe % m_files), stripe / m_files * kStripeBytes + within,
          kStripeBytes - within};
}

std::int64_t Stripes::next_begin(std::int64_t address) const {
  return round_up(address, m_files == 1 ? kSpillAlignment : kStripeBytes);
}

std::int64_t Stripes::file_bytes(std::int64_t end, std::size_t file) const {
  if (m_files == 1) return end;
  auto const whole = end / kStripeBytes, before = static_cast<std::int64_t>(file);
  auto const stripes = (whole + m_files - 1 - before) / m_files;
  auto const last = whole % m_files == before ? end % kStripeBytes : 0;
  return stripes * kStripeBytes + last;
}

std::int64_t Stripes::most_end(std::int64_t most_file_bytes) const {
  if (m_files == 1) return most_file_bytes;
  auto const stripes = most_file_bytes / kStripeBytes;
  // The next stripe of the first file may be cut short.
  return m_files * stripes * kStripeBytes + most_file_bytes % kStripeBytes;
}

std::int64_t Stripes::most_lost_bytes() const {
  return m_files == 1 ? 0 : m_files * kStripeBytes;
}

}  // namespace spillway
