#include "tests/support/cuda/checked_device.hpp"

#include <utility>

#include "base/allocator_pass.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/state.hpp"

namespace spillway::test::cuda {
namespace {

// Complains unless the clocks show that all work must have ended. It is not enough if all work has
// ended by chance.
void expect_ended(char const* what) {
  AllocatorPass const pass;
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  for (auto const& [id, stream] : all.queues.streams()) {
    if (!stream.pieces.empty() || !this_thread(all).knows_all_of(stream.clock))
      complain(std::string(what) + " returns before all work has ended");
  }
}

class CheckedMemory final : public spillway::DeviceMemory {
 public:
  explicit CheckedMemory(std::unique_ptr<spillway::DeviceMemory> memory)
      : m_memory(std::move(memory)) {}

  void commit(std::int64_t bytes) override {
    m_memory->commit(bytes);
    expect_ended("commit");
  }
  DeviceBytes at(std::int64_t offset, std::int64_t bytes) const override {
    return m_memory->at(offset, bytes);
  }
  std::int64_t bytes() const override { return m_memory->bytes(); }
  std::int64_t reserved_bytes() const override { return m_memory->reserved_bytes(); }

 private:
  std::unique_ptr<spillway::DeviceMemory> m_memory;
};

class CheckedDevice final : public Device {
 public:
  explicit CheckedDevice(std::unique_ptr<Device> device) : m_device(std::move(device)) {}

  bool has_own_memory() const override { return m_device->has_own_memory(); }
  DeviceProperties properties() const override { return m_device->properties(); }
  std::unique_ptr<spillway::DeviceMemory> reserve(std::string name, std::int64_t bytes,
                                                  std::int64_t reserve_bytes) override {
    auto memory = m_device->reserve(std::move(name), bytes, reserve_bytes);
    expect_ended("reserve");
    return std::make_unique<CheckedMemory>(std::move(memory));
  }
  std::unique_ptr<Pinned> pin(HostBytes bytes) override { return m_device->pin(bytes); }
  std::unique_ptr<Stream> stream(bool urgent) override { return m_device->stream(urgent); }
  std::unique_ptr<Event> event() override { return m_device->event(); }

  void copy(DeviceBytes to, HostBytes from) override { copy_and_expect(to, from); }
  void copy(HostBytes to, DeviceBytes from) override { copy_and_expect(to, from); }
  void copy(DeviceBytes to, DeviceBytes from) override { copy_and_expect(to, from); }
  void fill(DeviceBytes bytes, std::byte value) override {
    m_device->fill(bytes, value);
    expect_ended("fill");
  }

  HostBytes on_host(DeviceBytes bytes) const override { return m_device->on_host(bytes); }
  DeviceBytes on_device(HostBytes bytes) const override { return m_device->on_device(bytes); }
  void check() override { m_device->check(); }

 private:
  template <class To, class From>
  void copy_and_expect(To to, From from) {
    m_device->copy(to, from);
    expect_ended("copy");
  }

  std::unique_ptr<Device> m_device;
};

}  // namespace

std::unique_ptr<Device> checked(std::unique_ptr<Device> device) {
  return std::make_unique<CheckedDevice>(std::move(device));
}

}  // namespace spillway::test::cuda
