// Memory that passes to a plan which needs less: what is given back may hold state until that has
// moved.
#include "train/change_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "plan/move/move.hpp"
#include "plan/move/move_order.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::test::change_places_test {
namespace {

constexpr std::int64_t kMiB = 1 << 20, kStateBytes = 9 * kMiB + 100;
constexpr Budgets kMost = {32 * kMiB, 32 * kMiB, 0};

// Holds one persistent tensor and needs no byte beyond it.
Program with_state_at(Spot const& at, bool unified) {
  Program program;
  program.unified = unified;
  Buffer state;
  state.id = 0;
  state.tensor = 0;
  state.name = "state";
  state.bytes = kStateBytes;
  state.tier = at.tier;
  state.offset = at.offset;
  state.persistent = true;
  program.tensors.resize(1);
  program.buffers = {state};
  program.peak_bytes[at.tier] = at.offset + kStateBytes;
  return program;
}

std::vector<std::byte> pattern() {
  std::vector<std::byte> bytes(kStateBytes);
  std::minstd_rand random(1);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random() >> 8);
  return bytes;
}

// A run on one rank whose only state is that tensor.
class TinyRun {
 public:
  TinyRun(Program const& from, Program const& to)
      : m_from(from),
        m_to(to),
        m_move(make_move(from, to).value()),
        m_device(from.unified),
        m_memory({}, m_device.device(), from, kMost) {
    auto bytes = pattern();
    copy(m_device.device(), nullptr, at(from), HostBytes(bytes));
  }

  template <class Move>
  Moved change(Move const& move) {
    return change_places(m_memory, *m_comm, {m_from, m_move, m_to}, move);
  }
  Moved change() {
    return change([this] { run(m_move); });
  }

  void expect_state_of(Program const& program) {
    std::vector<std::byte> bytes(kStateBytes);
    copy(m_device.device(), nullptr, HostBytes(bytes), at(program));
    EXPECT_TRUE(bytes == pattern());
    EXPECT_EQ(m_memory.tiers().device_memory->bytes(), program.peak_bytes[Tier::device]);
    EXPECT_EQ(m_memory.tiers().host.bytes(), program.peak_bytes[Tier::host]);
  }

 private:
  MemoryBytes at(Program const& program) {
    return memory_bytes(m_memory.tiers(), program.buffers[0], 0);
  }
  void run(Program const& move) {
    NoBatches batches;
    Engine engine({move,
                   m_memory.tiers(),
                   KernelTable(fake_kernel),
                   *m_comm,
                   batches,
                   {},
                   nullptr,
                   1,
                   m_device.make_watch()});
    engine.run_step(0);
    engine.finish();
    m_device.expect_sound();
  }

  Program const& m_from;
  Program const& m_to;
  Program m_move;
  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  DeviceUnderTest m_device;
  RunMemory m_memory;
};

// Where state lies before and after: in either tier, low or high.
class ChangePlaces : public ::testing::TestWithParam<std::tuple<bool, Spot, Spot>> {};

constexpr Spot kSpots[] = {
    {Tier::device, 0}, {Tier::device, 16 * kMiB}, {Tier::host, 0}, {Tier::host, 16 * kMiB}};
INSTANTIATE_TEST_SUITE_P(Of, ChangePlaces,
                         ::testing::Combine(::testing::Bool(), ::testing::ValuesIn(kSpots),
                                            ::testing::ValuesIn(kSpots)));

TEST_P(ChangePlaces, keeps_state_that_lies_in_what_is_given_back) {
  auto const& [unified, before, after] = GetParam();
  auto const from = with_state_at(before, unified), to = with_state_at(after, unified);
  TinyRun run(from, to);
  EXPECT_EQ(run.change(), Moved::state);
  run.expect_state_of(to);
}

TEST(ChangeOfPlaces, says_that_state_is_lost_where_storage_failed_and_throws_what_else_happened) {
  auto const from = with_state_at({Tier::device, 0}, true);
  auto const to = with_state_at({Tier::host, 0}, true);
  TinyRun run(from, to);
  auto const fails = [](Status status) { return [=] { throw Error(status, "so"); }; };
  EXPECT_EQ(run.change(fails(Status::storage)), Moved::state_lost);
  EXPECT_THROW(run.change(fails(Status::damaged)), Error);
}

std::int64_t data_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    std::int64_t kib = 0;
    if (word == "VmData:" && file >> kib) return 1024 * kib;
  }
  return 0;
}

TEST(ChangeOfPlaces, leaves_all_as_it_was_where_there_is_no_memory_to_move_in) {
  auto const from = with_state_at({Tier::device, 0}, true);
  auto const to = with_state_at({Tier::host, 0}, true);
  TinyRun run(from, to);
  CapturedLog log;
  {
    ResourceLimit const limit(RLIMIT_DATA, static_cast<rlim_t>(data_bytes() + 4 * kMiB));
    EXPECT_EQ(run.change([] { FAIL() << "it moves"; }), Moved::nothing);
  }
  auto const said = log.taken();
  EXPECT_TRUE(said.starts_with("warning: ")) << said;
  EXPECT_TRUE(said.ends_with("; the plan stays\n")) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  run.expect_state_of(from);
  EXPECT_EQ(run.change(), Moved::state);
  run.expect_state_of(to);
}

}  // namespace
}  // namespace spillway::test::change_places_test
