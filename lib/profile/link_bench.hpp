// A LinkBench measures copies between pinned main memory and a device's own memory.
#pragma once

#include <array>
#include <memory>

#include "base/pages.hpp"
#include "device/device.hpp"

namespace spillway {

// LinkRates are the rates of both directions in GB/s. A rate of 0 is unknown.
struct LinkRates {
  double h2d_gbps = 0, d2h_gbps = 0;
};
LinkRates slower(LinkRates const& a, LinkRates const& b);

// A LinkBench holds pinned memory and memory of the device, 32 MiB each, as long as it lives.
class LinkBench {
 public:
  explicit LinkBench(Device& device);  // `device` must have memory of its own

  // Returns for each direction the lower one of two rates: alone, and while bytes also go the other
  // way. In a step both directions are busy, and the link or main memory may be too slow for both.
  LinkRates rates();
  // Copies in both directions for about `least_s` seconds. Returns the rates.
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
  std::array<Way, 2> m_ways;  // declared last, to end before the memory that they use
};

}  // namespace spillway
