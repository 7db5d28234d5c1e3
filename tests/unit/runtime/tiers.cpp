// Host memory is pinned as it grows and shrinks: all of it, and nothing that was given back.
#include "runtime/tiers.hpp"

#include <gtest/gtest.h>

#include "base/math.hpp"
#include "device/host/host_device.hpp"

namespace spillway::tiers_test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// The host, but that it wants its memory pinned, and remembers what is.
class PinningDevice final : public Device {
 public:
  class Range final : public Pinned {
   public:
    Range(PinningDevice& on, HostBytes bytes) : m_on(on) {
      EXPECT_EQ(m_on.pinned_bytes, 0) << "two ranges at a time";
      m_on.pinned_bytes = std::ssize(bytes);
    }
    ~Range() override { m_on.pinned_bytes = 0; }

   private:
    PinningDevice& m_on;
  };

  bool has_own_memory() const override { return m_host.has_own_memory(); }
  DeviceProperties properties() const override { return m_host.properties(); }
  std::unique_ptr<DeviceMemory> reserve(std::string name, std::int64_t bytes,
                                        std::int64_t reserve_bytes) override {
    return m_host.reserve(std::move(name), bytes, reserve_bytes);
  }
  std::unique_ptr<Pinned> pin(HostBytes bytes) override {
    ++pins;
    return std::make_unique<Range>(*this, bytes);
  }
  std::unique_ptr<Stream> stream(bool urgent) override { return m_host.stream(urgent); }
  std::unique_ptr<Event> event() override { return m_host.event(); }
  void copy(DeviceBytes to, HostBytes from) override { m_host.copy(to, from); }
  void copy(HostBytes to, DeviceBytes from) override { m_host.copy(to, from); }
  void copy(DeviceBytes to, DeviceBytes from) override { m_host.copy(to, from); }
  void fill(DeviceBytes bytes, std::byte value) override { m_host.fill(bytes, value); }
  HostBytes on_host(DeviceBytes bytes) const override { return m_host.on_host(bytes); }
  DeviceBytes on_device(HostBytes bytes) const override { return m_host.on_device(bytes); }
  void check() override { m_host.check(); }

  std::int64_t pinned_bytes = 0;
  int pins = 0;

 private:
  Device& m_host = host_device();
};

TierBytes peaks(std::int64_t host_bytes) {
  TierBytes result{};
  result[Tier::device] = kMiB;
  result[Tier::host] = host_bytes;
  return result;
}

TEST(Tiers, pin_what_a_plan_takes_of_the_host_and_no_more) {
  PinningDevice device;
  {
    Tiers tiers(device, peaks(3 * kMiB), nullptr, {kMiB, 8 * kMiB, 0});
    EXPECT_EQ(device.pinned_bytes, 3 * kMiB);
    for (auto const bytes : {2 * kMiB, 5 * kMiB, kMiB}) {
      tiers.resize(peaks(bytes));
      EXPECT_EQ(device.pinned_bytes, bytes);
    }
    EXPECT_EQ(device.pins, 4);
    tiers.resize(peaks(kMiB - 100));  // the same pages
    EXPECT_EQ(device.pinned_bytes, kMiB);
    EXPECT_EQ(device.pins, 4) << "pinning takes its time";
    tiers.resize(peaks(0));
    EXPECT_EQ(device.pinned_bytes, 0);
  }
  EXPECT_EQ(device.pinned_bytes, 0);
}

}  // namespace
}  // namespace spillway::tiers_test
