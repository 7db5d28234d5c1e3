// Routes say what it takes to bring bytes from one place to another.
#pragma once

#include <vector>

#include "plan/bound/bound_rows.hpp"

namespace spillway {

// A Place says where bytes lie between their uses. A copy in host memory may stay while another is
// on the device.
enum class Place : std::uint8_t { device, host, nvme, device_and_host };

class Routes {
 public:
  explicit Routes(BoundQuestion const& question);

  // Returns the tiers that there are.
  std::vector<Tier> const& tiers() const { return m_tiers; }
  // Returns the lanes that may update chunks.
  std::vector<Lane> const& update_lanes() const { return m_update_lanes; }
  bool unified() const { return m_unified; }

  // Returns what it takes to move a byte between tiers, or between a tier and where a lane works.
  Busy move(Tier from, Tier to) const;
  Busy bring(Tier from, Lane lane) const;
  Busy take_back(Lane lane, Tier to) const;
  Busy const& send() const { return m_send; }

 private:
  bool m_unified;
  std::vector<Tier> m_tiers;
  std::vector<Lane> m_update_lanes;
  PerLane<Busy> m_copy;
  Busy m_send;
};

}  // namespace spillway
