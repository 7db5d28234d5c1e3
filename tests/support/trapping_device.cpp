#include "tests/support/trapping_device.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>

#include "base/math.hpp"

namespace spillway::test {
namespace {

std::byte* mapped(int file, std::int64_t bytes, int access) {
  auto* const at = ::mmap(nullptr, static_cast<std::size_t>(bytes), access, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) throw std::runtime_error("the trapping device gets no memory");
  return static_cast<std::byte*>(at);
}

// Holds one file in memory twice: at `trap`, where every access traps, and at `shadow`.
struct Twice {
  std::byte *trap, *shadow;
  std::int64_t bytes;
};

class Shadows {
 public:
  void add(Twice const& memory) {
    std::scoped_lock const lock(m_mutex);
    m_all[memory.trap] = memory;
  }
  void remove(std::byte* trap) {
    std::scoped_lock const lock(m_mutex);
    m_all.erase(trap);
  }
  // Returns where the byte can be touched, or null if it is no byte of the device.
  std::byte* find(void const* address) {
    std::scoped_lock const lock(m_mutex);
    auto* const at = static_cast<std::byte*>(const_cast<void*>(address));
    auto found = m_all.upper_bound(at);
    if (found == m_all.begin()) return nullptr;
    auto const& memory = (--found)->second;
    return at < memory.trap + memory.bytes ? memory.shadow + (at - memory.trap) : nullptr;
  }

 private:
  std::mutex m_mutex;
  std::map<std::byte*, Twice> m_all;
};

Shadows g_shadows;
std::atomic<std::int64_t> g_translated = 0;

std::byte* shadow(DeviceBytes bytes) {
  auto* const at = g_shadows.find(bytes.operand());
  if (at == nullptr) throw std::logic_error("these bytes are not the device's");
  return at;
}

class TrappingMemory final : public DeviceMemory {
 public:
  TrappingMemory(std::int64_t bytes, std::int64_t reserve_bytes)
      : m_reserved_bytes(round_up(std::max(bytes, reserve_bytes), kPage)) {
    int const file = ::memfd_create("device", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, m_reserved_bytes + kPage) != 0)
      throw std::runtime_error("the trapping device gets no memory");
    m_memory = {mapped(file, m_reserved_bytes + kPage, PROT_NONE),
                mapped(file, m_reserved_bytes + kPage, PROT_READ | PROT_WRITE),
                m_reserved_bytes + kPage};
    ::close(file);
    g_shadows.add(m_memory);
    commit(bytes);
  }
  ~TrappingMemory() override {
    g_shadows.remove(m_memory.trap);
    for (auto* const at : {m_memory.trap, m_memory.shadow})
      ::munmap(at, static_cast<std::size_t>(m_memory.bytes));
  }

  void commit(std::int64_t bytes) override {
    if (bytes > m_bytes)
      std::memset(m_memory.shadow + m_bytes, 0, static_cast<std::size_t>(bytes - m_bytes));
    m_bytes = bytes;
  }
  DeviceBytes at(std::int64_t offset, std::int64_t bytes) const override {
    if (offset < 0 || bytes < 0 || offset + bytes > m_bytes)
      throw std::logic_error("bytes of the device that are not committed");
    return {m_memory.trap + offset, bytes};
  }
  std::int64_t bytes() const override { return m_bytes; }
  std::int64_t reserved_bytes() const override { return m_reserved_bytes; }

 private:
  static constexpr std::int64_t kPage = 4096;
  std::int64_t m_reserved_bytes, m_bytes = 0;
  Twice m_memory{};
};

class TrappingDevice final : public Device {
 public:
  bool has_own_memory() const override { return true; }
  DeviceProperties properties() const override { return {.name = "trap", .target = "host"}; }
  std::unique_ptr<Pinned> pin(HostBytes) override { return nullptr; }
  std::unique_ptr<Stream> stream(bool) override { return nullptr; }
  std::unique_ptr<Event> event() override { return nullptr; }
  void check() override {}
  std::unique_ptr<DeviceMemory> reserve(std::string, std::int64_t bytes,
                                        std::int64_t reserve_bytes) override {
    return std::make_unique<TrappingMemory>(bytes, reserve_bytes);
  }
  void copy(DeviceBytes to, HostBytes from) override {
    std::memcpy(shadow(to), from.data(), from.size());
  }
  void copy(HostBytes to, DeviceBytes from) override {
    std::memcpy(to.data(), shadow(from), to.size());
  }
  void copy(DeviceBytes to, DeviceBytes from) override {
    std::memcpy(shadow(to), shadow(from), static_cast<std::size_t>(from.size()));
  }
  void fill(DeviceBytes bytes, std::byte value) override {
    std::memset(shadow(bytes), std::to_integer<int>(value), static_cast<std::size_t>(bytes.size()));
  }
  HostBytes on_host(DeviceBytes) const override {
    throw std::logic_error("the host cannot reach the trapping device's memory");
  }
  DeviceBytes on_device(HostBytes bytes) const override {
    return {bytes.data(), std::ssize(bytes)};
  }
};

// An op has at most this many operands, its workspace included.
constexpr std::size_t kMostOperands = 32;

Launch bind_translated(KernelContext const& context, Op const& op) {
  auto const count = op.inputs.size() + op.outputs.size() + (op.workspace_bytes > 0 ? 1 : 0);
  if (count > kMostOperands) throw std::logic_error(op.name + " has too many operands");
  return
      [launch = kernel(op.kind).bind(context, op), count](Exec const& exec, void* const* operands) {
        std::array<void*, kMostOperands> there{};
        for (std::size_t i = 0; i < count; ++i) {
          auto* const at = operands[i] == nullptr ? nullptr : g_shadows.find(operands[i]);
          there[i] = at != nullptr ? at : operands[i];
          g_translated += at != nullptr ? 1 : 0;
        }
        launch(exec, there.data());
      };
}

}  // namespace

Device& trapping_device() {
  static TrappingDevice device;
  return device;
}

Kernel trapping_kernel(OpKind kind) {
  Kernel result = kernel(kind);
  result.bind = bind_translated;
  return result;
}

std::int64_t translated_operands() {
  return g_translated;
}

}  // namespace spillway::test
