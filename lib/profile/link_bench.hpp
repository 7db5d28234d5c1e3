// Measures copies between pinned main memory and a device's own.
#pragma once

#include <array>
#include <memory>

#include "base/pages.hpp"
#include "device/device.hpp"

namespace spillway {

// The GB/s of both directions.
struct LinkRates {
  double h2d_gbps = 0, d2h_gbps = 0;
};
LinkRates slower(LinkRates const& a, LinkRates const& b);

// Has pinned memory and memory of the device, 32 MiB each, as long as it lives.
class LinkBench {
 public:
  explicit LinkBench(Device& device);  // a device with memory of its own

  // Returns the lower rate of each direction: what it gets by itself, or while bytes go the other
  // way too. In a step they do, and a link or the main memory behind it may not bear both.
  LinkRates rates();
  // Copies in both directions for about `least_s` seconds.
  LinkRates both_ways(double least_s);

 private:
  enum Direction : std::size_t { h2d, d2h };
  struct Way {
    std::unique_ptr<Stream> stream;
    std::unique_ptr<Event> begin, end;
  };
  double alone_gbps(Direction direction);
  void launch(Direction direction, int copies);
  double seconds(Direction direction) const;

  Pages m_host;
  std::unique_ptr<Pinned> m_pinned;
  std::unique_ptr<DeviceMemory> m_there;
  std::array<Way, 2> m_ways;  // end before the memory that they use
};

}  // namespace spillway
