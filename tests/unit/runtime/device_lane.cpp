// What a lane of a device tells of its items, to the second, on a device whose times are a script.
#include "runtime/device_lane.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "runtime/engine_state.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made_run.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/runtime/fake_device.hpp"

namespace spillway::test::device_lane_test {
namespace {

// Two copies to the device (items 0 and 2) and three ops (1, 3 and 5), of which two wait for the
// second copy and one for a copy back as well (4). All by hand, without an Engine's threads.
class DeviceLanes : public ::testing::Test {
 protected:
  DeviceLanes() {
    made.program.unified = false;
    made.segment("last");
    auto const a = made.buffer(Tier::device, 64);
    for (auto const which :
         {Lane::h2d, Lane::compute, Lane::h2d, Lane::compute, Lane::d2h, Lane::compute, Lane::host})
      made.item(which, {a}, {});
    made.program.items[3].waits = {2};
    made.program.items[4].waits = {6};
    made.program.items[5].waits = {2, 4};
    made.program.peak_bytes = {4096, 0, 0};
    tiers.emplace(device, made.program.peak_bytes, nullptr);
    state.emplace(EngineParts{made.program, *tiers, KernelTable(fake_kernel), *comm, batches, {}},
                  EngineDebug{});
    state->items.resize(made.program.items.size());
    for (std::size_t i = 0; i < state->items.size(); ++i) {
      state->items[i].bytes = std::int64_t{1} << i;
      state->items[i].run = [this](ItemContext const&) { ++works; };
    }
    for (auto& run : state->runs) {
      run.times.resize(made.program.items.size());
      run.device_begin = device.event();
    }
    for (auto const which : {Lane::compute, Lane::h2d, Lane::d2h}) {
      state->device_lanes[index(which)] =
          std::make_unique<DeviceLane>(*state, which, device.stream(true));
      cursors.emplace_back(made.program, state->sequence, 1u << index(which));
    }
    lane(Lane::compute).prepare({false, false, true});
    lane(Lane::h2d).prepare({false, true});
    lane(Lane::d2h).prepare({true});
  }

  DeviceLane& lane(Lane which) { return *state->device_lane(which); }
  FakeStream& stream(Lane which) { return static_cast<FakeStream&>(lane(which).stream()); }
  FakeEvent& begin(std::size_t run) {
    return static_cast<FakeEvent&>(*state->runs[run].device_begin);
  }
  // Launches all of a lane's items of its next run.
  void launch(Lane which, bool works_too = true) {
    auto& cursor = cursors[index(which)];
    while (auto const* const item = cursor.next()) {
      lane(which).launch(cursor, *item, works_too);
      cursor.pass();
    }
    cursor.next_run();
  }
  void expect_time(std::size_t run, std::size_t item, double ready_s, double start_s,
                   double end_s) const {
    auto const& time = state->runs[run].times[item];
    EXPECT_EQ(time.ready_s, ready_s) << run << " " << item;
    EXPECT_EQ(time.start_s, start_s) << run << " " << item;
    EXPECT_EQ(time.end_s, end_s) << run << " " << item;
  }
  void expect_use(Lane which, LaneUse const& use) {
    auto& tally = state->tallies[index(which)];
    EXPECT_EQ((LaneUse{tally.busy_s.take(), tally.stall_s.take(), tally.bytes.take()}), use);
  }

  FakeDevice device;
  HandMadeRun made;
  std::optional<Tiers> tiers;
  std::unique_ptr<Comm> comm = make_single_rank_comm();
  NoBatches batches;
  std::optional<EngineState> state;
  std::vector<Cursor> cursors;  // compute, h2d, d2h
  int works = 0;
};

TEST_F(DeviceLanes, tell_when_their_items_were_ready_and_began_and_ended) {
  using enum Lane;
  begin(0).at_s = 1000;
  begin(1).at_s = 2000;
  stream(h2d).times_s = {1001, 1002, 1004, 1008, 2016, 2032, 2064, 2128};
  // An op begins behind the end of the one before; the mark of a run's begin may be later.
  stream(compute).times_s = {999.5,   1000.5, 1003, 1005, 1010, 1020,
                             2000.25, 2001,   2001, 2002, 2004, 2008};
  stream(d2h).times_s = {1003, 1007, 2002, 2005};  // one item in a step
  for (auto const which : {h2d, d2h, compute}) launch(which);
  for (auto const which : {h2d, d2h, compute})
    EXPECT_EQ(lane(which).poll(), DeviceLane::Poll::ended);
  expect_time(0, 4, 0, 3, 7);
  expect_time(0, 0, 0, 1, 2);
  expect_time(0, 2, 2, 4, 8);
  expect_time(0, 1, 0, 0, 0.5);
  expect_time(0, 3, 0.5, 3, 5);
  expect_time(0, 5, 5, 10, 20);
  expect_use(h2d, {.busy_s = 1 + 4, .stall_s = 1 + 2, .bytes = 1 + 4});
  expect_use(compute, {.busy_s = 0.5 + 2 + 10, .stall_s = 2.5 + 5, .bytes = 2 + 8 + 32});
  std::array<double, kLanes> stall_s{};
  for (std::size_t i = 0; i < stall_s.size(); ++i) stall_s[i] = state->compute_stall_s[i].take();
  EXPECT_EQ(stall_s[index(h2d)], 2.5);
  EXPECT_EQ(stall_s[index(d2h)], 5) << "of several lanes the last";
  EXPECT_EQ(stall_s[index(compute)] + stall_s[index(host)], 0);

  for (auto const which : {h2d, d2h, compute}) launch(which);
  for (auto const which : {h2d, d2h, compute})
    EXPECT_EQ(lane(which).poll(), DeviceLane::Poll::ended);
  expect_time(1, 4, 0, 2, 5);
  expect_time(1, 0, 0, 16, 32);
  expect_time(1, 2, 32, 64, 128);
  expect_time(1, 1, 0, 0.25, 1);
  expect_time(1, 3, 1, 1, 2);
  expect_time(1, 5, 2, 4, 8);
  expect_use(h2d, {.busy_s = 16 + 64, .stall_s = 16 + 32, .bytes = 1 + 4});
  expect_use(compute, {.busy_s = 0.75 + 1 + 4, .stall_s = 0.25 + 2, .bytes = 2 + 8 + 32});
  EXPECT_EQ(state->compute_stall_s[index(h2d)].take(), 0);
  EXPECT_EQ(state->compute_stall_s[index(d2h)].take(), 2);
  expect_time(0, 5, 5, 10, 20);  // as it was
}

// The copy back comes behind the op, which waits for that of the step before.
TEST_F(DeviceLanes, stall_for_no_item_that_has_no_instance_yet) {
  using enum Lane;
  made.program.items[3].waits = {2, 4};
  begin(0).at_s = 1000;
  begin(1).at_s = 2000;
  stream(h2d).times_s = {1000, 1001, 1001, 1002, 2000, 2001, 2001, 2002};
  stream(compute).times_s = {1000, 1001, 1004, 1005, 1005, 1006,
                             2000, 2001, 2009, 2010, 2010, 2011};
  stream(d2h).times_s = {1000, 1001, 2000, 2001};
  for (auto const& [for_h2d_s, for_d2h_s] : {std::pair(3.0, 0.0), std::pair(0.0, 8.0)}) {
    for (auto const which : {h2d, d2h, compute}) launch(which);
    for (auto const which : {h2d, d2h, compute})
      EXPECT_EQ(lane(which).poll(), DeviceLane::Poll::ended);
    EXPECT_EQ(state->compute_stall_s[index(h2d)].take(), for_h2d_s);
    EXPECT_EQ(state->compute_stall_s[index(d2h)].take(), for_d2h_s);
  }
}

TEST_F(DeviceLanes, wait_in_their_streams_for_the_latest_items_of_other_lanes) {
  using enum Lane;
  for (auto const which : {h2d, d2h, compute}) launch(which);
  auto const& copies = stream(h2d).recorded;
  ASSERT_EQ(copies.size(), 4u) << "a begin and an end for each";
  EXPECT_EQ(stream(compute).waited_for,
            (std::vector<Event const*>{copies[3], copies[3], stream(d2h).recorded[1]}));
  EXPECT_TRUE(stream(h2d).waited_for.empty());
  EXPECT_TRUE(stream(d2h).waited_for.empty()) << "for the host its launch has waited";
  EXPECT_EQ(works, 6);
  EXPECT_EQ(lane(compute).launched().count(), 3u);
  EXPECT_EQ(lane(h2d).launched().count(), 2u);
  EXPECT_EQ(state->clocks[index(compute)].count(), 0u) << "nobody has asked yet";
}

// An item that is left out has its marks all the same.
TEST_F(DeviceLanes, leave_out_the_work_alone) {
  launch(Lane::h2d, false);
  EXPECT_EQ(works, 0);
  EXPECT_EQ(stream(Lane::h2d).recorded.size(), 4u);
  EXPECT_EQ(lane(Lane::h2d).poll(), DeviceLane::Poll::ended);
  EXPECT_EQ(state->clocks[index(Lane::h2d)].count(), 2u);
}

TEST_F(DeviceLanes, have_ended_where_what_is_awaited_and_the_runs_begin_have) {
  auto& compute = lane(Lane::compute);
  auto& cursor = cursors[index(Lane::compute)];
  auto const& clock = state->clocks[index(Lane::compute)];
  auto const launch_one = [&] {
    compute.launch(cursor, *cursor.next(), true);
    cursor.pass();
  };
  EXPECT_EQ(compute.poll(), DeviceLane::Poll::nothing_awaited);
  launch_one();
  launch_one();
  EXPECT_EQ(compute.poll(), DeviceLane::Poll::nothing_awaited) << "nobody waits for these two";
  launch_one();
  auto& last_end = *stream(Lane::compute).recorded.back();
  last_end.is_done = begin(0).is_done = false;
  EXPECT_EQ(compute.poll(), DeviceLane::Poll::not_yet);
  last_end.is_done = true;
  EXPECT_EQ(compute.poll(), DeviceLane::Poll::not_yet) << "times need the begin, too";
  EXPECT_EQ(clock.count(), 0u);
  begin(0).is_done = true;
  EXPECT_EQ(compute.poll(), DeviceLane::Poll::ended);
  EXPECT_EQ(clock.count(), 3u) << "those before it have ended as well";
  EXPECT_EQ(compute.poll(), DeviceLane::Poll::nothing_awaited);
}

// A step on such a device: a copy to it, an op, a copy back.
class FakeDeviceRun : public ::testing::Test {
 protected:
  FakeDeviceRun() {
    made.program.unified = false;
    made.segment("last");
    auto const here = made.buffer(Tier::host, 72), there = made.buffer(Tier::device, 72);
    auto const found = made.buffer(Tier::device, 40), back = made.buffer(Tier::host, 40);
    made.at_buffer(here).persistent = true;
    made.copy(Lane::h2d, here, there);
    made.op(Lane::compute, {there}, {found});
    made.copy(Lane::d2h, found, back);
    made.complete();
    g_digests.assign(1, 0);
  }
  EngineParts parts(Tiers& tiers) {
    return {made.program, tiers, KernelTable(fake_kernel), *comm, batches, {}};
  }

  FakeDevice device;
  HandMadeRun made;
  std::unique_ptr<Comm> comm = make_single_rank_comm();
  NoBatches batches;
};

// Copies are those of the lanes' own counts, in whatever step they end.
TEST_F(FakeDeviceRun, counts_the_bytes_of_its_copies) {
  Tiers tiers(device, made.program.peak_bytes, nullptr);
  Engine engine(parts(tiers));
  std::array<std::int64_t, kLanes> bytes{};
  for (int step = 0; step < 5; ++step) {
    auto const use = engine.run_step(step).lanes.use;
    for (std::size_t lane = 0; lane < bytes.size(); ++lane) bytes[lane] += use[lane].bytes;
    engine.finish();
    EXPECT_EQ(bytes[index(Lane::compute)], 0);
    for (auto const& [lane, size] : {std::pair(Lane::h2d, 72), std::pair(Lane::d2h, 40)}) {
      auto const moved = bytes[index(lane)];
      EXPECT_TRUE(moved == step * size || moved == (step + 1) * size) << moved;
    }
  }
}

// Names by number, as `top -H` shows them.
std::map<std::string, std::string> threads() {
  std::map<std::string, std::string> names;
  for (auto const& thread : std::filesystem::directory_iterator("/proc/self/task"))
    std::getline(std::ifstream(thread.path() / "comm") >> std::ws,
                 names[thread.path().filename().string()]);
  return names;
}

TEST_F(FakeDeviceRun, has_a_thread_that_asks_the_device) {
  auto& batch = made.program.items[made.item(Lane::comm, {}, {})];
  batch.operands = {};
  Tiers tiers(device, made.program.peak_bytes, nullptr);
  auto const before = threads();
  Engine engine(parts(tiers));
  std::multiset<std::string> begun;
  for (auto const& [number, name] : threads())
    if (!before.contains(number)) begun.insert(name);
  EXPECT_EQ(begun, (std::multiset<std::string>{"comm", "device", "transfer"}));
}

TEST_F(FakeDeviceRun, is_refused_to_a_program_of_one_memory) {
  made.program.unified = true;
  Tiers tiers(device, made.program.peak_bytes, nullptr);
  EXPECT_EQ(mistake([&] { Engine engine(parts(tiers)); }),
            "this Program is not for a device with memory of its own");
}

TEST_F(FakeDeviceRun, leaves_bytes_of_the_device_to_the_device) {
  Tiers tiers(device, made.program.peak_bytes, nullptr);
  EXPECT_EQ(mistake([&] { host_bytes(tiers, made.at_buffer(1), 0); }),
            "the host cannot reach 'b' in the device's memory");
  EXPECT_EQ(host_bytes(tiers, made.at_buffer(3), 0).size(), 40u);
}

}  // namespace
}  // namespace spillway::test::device_lane_test
