#include "device/host/host_device.hpp"

#include <cstring>
#include <thread>

#include "device/host/arena.hpp"

namespace spillway {

namespace {

class ArenaMemory final : public DeviceMemory {
 public:
  ArenaMemory(std::string name, std::int64_t bytes, std::int64_t reserve_bytes)
      : m_arena(std::move(name), bytes, reserve_bytes) {}

  void commit(std::int64_t bytes) override { m_arena.commit(bytes); }
  DeviceBytes at(std::int64_t offset, std::int64_t bytes) const override {
    return {m_arena.at(offset, bytes).data(), bytes};
  }
  std::int64_t bytes() const override { return m_arena.bytes(); }
  std::int64_t reserved_bytes() const override { return m_arena.reserved_bytes(); }

 private:
  Arena m_arena;
};

class HostDevice final : public Device {
 public:
  bool has_own_memory() const override { return false; }
  DeviceProperties properties() const override {
    return {.name = "cpu",
            .id = "cpu",
            .target = "host",
            .compute_units = std::thread::hardware_concurrency()};
  }
  std::unique_ptr<DeviceMemory> reserve(std::string name, std::int64_t bytes,
                                        std::int64_t reserve_bytes) override {
    return std::make_unique<ArenaMemory>(std::move(name), bytes, reserve_bytes);
  }

  std::unique_ptr<Pinned> pin(HostBytes) override { return nullptr; }
  std::unique_ptr<Stream> stream(bool) override { return nullptr; }
  std::unique_ptr<Event> event() override { return nullptr; }

  void copy(DeviceBytes to, HostBytes from) override {
    std::memcpy(to.operand(), from.data(), from.size());
  }
  void copy(HostBytes to, DeviceBytes from) override {
    std::memcpy(to.data(), from.operand(), to.size());
  }
  void copy(DeviceBytes to, DeviceBytes from) override { copy(to, on_host(from)); }
  void fill(DeviceBytes bytes, std::byte value) override {
    std::memset(bytes.operand(), std::to_integer<int>(value), on_host(bytes).size());
  }

  HostBytes on_host(DeviceBytes bytes) const override {
    return {static_cast<std::byte*>(bytes.operand()), static_cast<std::size_t>(bytes.size())};
  }
  DeviceBytes on_device(HostBytes bytes) const override {
    return {bytes.data(), std::ssize(bytes)};
  }
  void check() override {}
};

}  // namespace

Device& host_device() {
  static HostDevice device;
  return device;
}

}  // namespace spillway
