// Devices of main memory for tests: one that is the host, to be changed, and one whose work is done
// at once and whose times are those of a script.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "device/host/host_device.hpp"

namespace spillway::test {

class ChangedHost : public Device {
 public:
  bool has_own_memory() const override { return m_host.has_own_memory(); }
  DeviceProperties properties() const override { return m_host.properties(); }
  std::unique_ptr<DeviceMemory> reserve(std::string name, std::int64_t bytes,
                                        std::int64_t reserve_bytes) override {
    return m_host.reserve(std::move(name), bytes, reserve_bytes);
  }
  std::unique_ptr<Pinned> pin(HostBytes bytes) override { return m_host.pin(bytes); }
  std::unique_ptr<Stream> stream(bool urgent) override { return m_host.stream(urgent); }
  std::unique_ptr<Event> event() override { return m_host.event(); }
  void copy(DeviceBytes to, HostBytes from) override { m_host.copy(to, from); }
  void copy(HostBytes to, DeviceBytes from) override { m_host.copy(to, from); }
  void copy(DeviceBytes to, DeviceBytes from) override { m_host.copy(to, from); }
  void fill(DeviceBytes bytes, std::byte value) override { m_host.fill(bytes, value); }
  HostBytes on_host(DeviceBytes bytes) const override { return m_host.on_host(bytes); }
  DeviceBytes on_device(HostBytes bytes) const override { return m_host.on_device(bytes); }
  void check() override { m_host.check(); }

 private:
  Device& m_host = host_device();
};

class FakeEvent final : public Event {
 public:
  bool done() const override { return is_done; }
  double seconds_since(Event const& earlier) const override {
    return at_s - static_cast<FakeEvent const&>(earlier).at_s;
  }

  double at_s = 0;
  bool is_done = true;
};

class FakeStream final : public Stream {
 public:
  FakeStream(Device& device, bool is_urgent) : urgent(is_urgent), m_device(device) {}

  void copy(DeviceBytes to, HostBytes from) override { m_device.copy(to, from); }
  void copy(HostBytes to, DeviceBytes from) override { m_device.copy(to, from); }
  void copy(DeviceBytes to, DeviceBytes from) override { m_device.copy(to, from); }
  void fill(DeviceBytes bytes, std::byte value) override { m_device.fill(bytes, value); }
  // At the next of `times_s`, or at 0 where there are none.
  void record(Event& event) override {
    auto& fake = static_cast<FakeEvent&>(event);
    if (!times_s.empty()) fake.at_s = times_s.at(recorded.size());
    recorded.push_back(&fake);
  }
  void wait(Event const& event) override { waited_for.push_back(&event); }
  void* handle() const override { return nullptr; }

  bool urgent;
  std::vector<double> times_s;
  std::vector<FakeEvent*> recorded;
  std::vector<Event const*> waited_for;

 private:
  Device& m_device;
};

// Main memory that counts as its own.
class FakeDevice final : public ChangedHost {
 public:
  bool has_own_memory() const override { return true; }
  std::unique_ptr<Stream> stream(bool urgent) override {
    return std::make_unique<FakeStream>(*this, urgent);
  }
  std::unique_ptr<Event> event() override { return std::make_unique<FakeEvent>(); }
  HostBytes on_host(DeviceBytes) const override { throw std::logic_error("not main memory"); }
  void copy(DeviceBytes to, HostBytes from) override {
    std::memcpy(to.operand(), from.data(), from.size());
  }
  void copy(HostBytes to, DeviceBytes from) override {
    std::memcpy(to.data(), from.operand(), to.size());
  }
  void copy(DeviceBytes to, DeviceBytes from) override {
    std::memcpy(to.operand(), from.operand(), static_cast<std::size_t>(to.size()));
  }
};

}  // namespace spillway::test
