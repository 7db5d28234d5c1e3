#include "device/host/host_device.hpp"

#include <cstring>

#include "device/host/arena.hpp"

namespace spillway {

namespace {

class ArenaMemory final : public DeviceMemory {
 public:
  ArenaMemory(std::string name, std::int64_t bytes, std::int64_t reserve_bytes)
      : m_arena(std::move(name), bytes, reserve_bytes) {}

  void commit(std::int64_t bytes) override { m_arena.commit(bytes); }
  DeviceBytes at(std::int64_t offset, std::int64_t bytes) const override {
    return {m_arena.at(offset, bytes), bytes};
  }
  std::int64_t bytes() const override { return m_arena.bytes(); }
  std::int64_t reserved_bytes() const override { return m_arena.reserved_bytes(); }

 private:
  Arena m_arena;
};

class HostDevice final : public Device {
 public:
  bool has_own_memory() const override { return false; }
  std::unique_ptr<DeviceMemory> reserve(std::string name, std::int64_t bytes,
                                        std::int64_t reserve_bytes) override {
    return std::make_unique<ArenaMemory>(std::move(name), bytes, reserve_bytes);
  }

  void copy(DeviceBytes to, HostBytes from) const override {
    std::memcpy(to.operand(), from.data(), from.size());
  }
  void copy(HostBytes to, DeviceBytes from) const override {
    std::memcpy(to.data(), from.operand(), to.size());
  }
  void copy(DeviceBytes to, DeviceBytes from) const override { copy(to, on_host(from)); }
  void fill(DeviceBytes bytes, std::byte value) const override {
    std::memset(bytes.operand(), std::to_integer<int>(value), on_host(bytes).size());
  }

  HostBytes on_host(DeviceBytes bytes) const override {
    return {static_cast<std::byte*>(bytes.operand()), static_cast<std::size_t>(bytes.size())};
  }
  void* operand(HostBytes bytes) const override { return bytes.data(); }
};

}  // namespace

Device& host_device() {
  static HostDevice device;
  return device;
}

}  // namespace spillway
