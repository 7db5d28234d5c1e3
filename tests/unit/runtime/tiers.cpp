// Host memory is pinned as it grows and shrinks: all of it, and nothing that was given back.
#include "runtime/tiers.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/math.hpp"
#include "device/host/host_device.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/runtime/fake_device.hpp"

namespace spillway::tiers_test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// The host, but that it wants its memory pinned, and remembers what is.
class PinningDevice final : public Device {
 public:
  class PinnedRange final : public Pinned {
   public:
    PinnedRange(PinningDevice& on, HostBytes bytes) : m_on(on) {
      EXPECT_EQ(m_on.pinned_bytes, 0) << "two ranges at a time";
      m_on.pinned_bytes = std::ssize(bytes);
    }
    ~PinnedRange() override { m_on.pinned_bytes = 0; }

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
    return std::make_unique<PinnedRange>(*this, bytes);
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

TEST(Tiers, are_as_large_as_a_plan_asks_each_by_itself) {
  Tiers tiers(host_device(), {3 * kMiB, kMiB, 0}, nullptr, {8 * kMiB, 16 * kMiB, 0});
  EXPECT_EQ(tiers.device_memory->bytes(), 3 * kMiB);
  EXPECT_EQ(tiers.device_memory->reserved_bytes(), 8 * kMiB);
  EXPECT_EQ(tiers.host.bytes(), kMiB);
  EXPECT_EQ(tiers.host.reserved_bytes(), 16 * kMiB);
  tiers.resize({5 * kMiB, 2 * kMiB, 0});
  EXPECT_EQ(tiers.device_memory->bytes(), 5 * kMiB);
  EXPECT_EQ(tiers.host.bytes(), 2 * kMiB);
}

TEST(Tiers, have_names_where_there_is_no_memory_for_them) {
  constexpr std::int64_t much = std::int64_t{1} << 60;
  auto const said = [](TierBytes const& peaks) {
    auto const text =
        test::refused_with([&] { Tiers(host_device(), peaks, nullptr); }, Status::cannot_fit);
    return text.substr(0, text.find(':'));
  };
  EXPECT_EQ(said({much, 0, 0}), "memory.device");
  EXPECT_EQ(said({0, much, 0}), "host memory");
}

// The host whose main memory is near some node.
class NearNode final : public test::ChangedHost {
 public:
  explicit NearNode(int node) : m_node(node) {}
  DeviceProperties properties() const override {
    auto result = ChangedHost::properties();
    result.numa_node = m_node;
    return result;
  }

 private:
  int m_node;
};

TEST(Tiers, take_main_memory_that_is_near_the_device) {
  auto const policy_of = [](Device& device) {
    Tiers tiers(device, peaks(kMiB), nullptr);
    int policy = -1;
    auto const asked =
        ::syscall(SYS_get_mempolicy, &policy, nullptr, 0ul, tiers.host.all().data(), MPOL_F_ADDR);
    return asked == 0 ? policy : -1;
  };
  NearNode none(-1), first(0);
  auto const plain = policy_of(none);
  if (plain < 0) GTEST_SKIP() << "the system tells no policies: " << std::strerror(errno);
  EXPECT_EQ(plain, MPOL_DEFAULT);
  EXPECT_EQ(policy_of(first), MPOL_PREFERRED);
}

// A Program whose drive reads into the second page, and writes from the fourth and fifth.
Program with_drive_lanes(bool unified) {
  Program program;
  program.unified = unified;
  program.peak_bytes = {64 << 10, 32 << 10, 64 << 10};
  auto const add = [&](Lane lane, std::int64_t first, std::int64_t last) {
    Buffer here, away;
    here.id = static_cast<BufferId>(program.buffers.size());
    here.tier = unified ? Tier::device : Tier::host;
    here.offset = 100;
    here.bytes = 20'000;
    away.id = here.id + 1;
    away.tier = Tier::nvme;
    program.buffers.push_back(here);
    program.buffers.push_back(away);
    Item item;
    item.lane = lane;
    bool const reads = lane == Lane::nvme_read;
    (reads ? item.writes : item.reads) = {{here.id, first, last, {}}};
    item.operands = {reads ? away.id : here.id, reads ? here.id : away.id};
    program.items.push_back(item);
  };
  add(Lane::nvme_write, 4 * 4096 - 101, 4 * 4096 - 99);
  add(Lane::nvme_read, 3996, 8000);
  add(Lane::h2d, 0, 20'000);
  return program;
}

TEST(Tiers, have_memory_for_the_drive_where_it_reaches_it) {
  test::FakeDevice own;
  for (bool const unified : {true, false}) {
    auto const program = with_drive_lanes(unified);
    auto& device = unified ? host_device() : static_cast<Device&>(own);
    Tiers const tiers(device, program.peak_bytes, nullptr);
    auto const all = drive_memory(tiers);
    auto const begin = unified ? static_cast<std::byte*>(tiers.device_memory->at(0, 1).operand())
                               : tiers.host.all().data();
    EXPECT_EQ(all.data(), begin);
    EXPECT_EQ(std::ssize(all), unified ? 64 << 10 : 32 << 10);
    auto const parts = drive_memory(tiers, program);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].data(), begin + 4096);
    EXPECT_EQ(parts[0].size(), 4096u);
    EXPECT_EQ(parts[1].data(), begin + 3 * 4096);
    EXPECT_EQ(parts[1].size(), 8192u);
  }
}

TEST(Tiers, hold_a_tensor_where_its_first_buffer_outside_the_drive_is) {
  Program program;
  for (auto const& [tensor, tier] :
       {std::pair(3, Tier::nvme), {2, Tier::device}, {3, Tier::host}, {3, Tier::device}}) {
    Buffer buffer;
    buffer.id = static_cast<BufferId>(program.buffers.size());
    buffer.tensor = tensor;
    buffer.tier = tier;
    program.buffers.push_back(buffer);
  }
  program.buffers.push_back({});  // of no tensor
  EXPECT_EQ(find_buffer(program, 3), &program.buffers[2]);
  EXPECT_EQ(find_buffer(program, 2), &program.buffers[1]);
  EXPECT_EQ(find_buffer(program, 1), nullptr);
  EXPECT_EQ(find_buffer(program, -1), nullptr);
}

}  // namespace
}  // namespace spillway::tiers_test
