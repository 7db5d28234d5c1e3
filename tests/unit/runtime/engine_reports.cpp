// What an engine tells of its lanes, and what others see of its threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <thread>

#include "runtime/poison.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made_run.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::engine_reports_test {
namespace {

using namespace test;

constexpr auto kSlow = std::chrono::milliseconds(2);

// Compute waits for what the host makes and h2d brings, and then lets the host go on.
class EngineReports : public ::testing::Test {
 protected:
  EngineReports() {
    auto const made = m_made.buffer(Tier::host, 72), there = m_made.buffer(Tier::device, 72);
    auto const found = m_made.buffer(Tier::device, 40), back = m_made.buffer(Tier::host, 40);
    auto const kept = m_made.buffer(Tier::host, 64);
    m_made.segment("only");
    m_slow = m_made.op(Lane::host, {}, {made});
    m_made.copy(Lane::h2d, made, there);
    m_made.op(Lane::compute, {there}, {found});
    m_made.copy(Lane::d2h, found, back);
    m_made.op(Lane::host, {back}, {kept});
    m_made.complete();
    g_digests.assign(m_made.program.ops.size(), 0);
    m_tiers.reset(new Tiers(make_tiers(m_made.program, nullptr)));
  }
  void TearDown() override { g_disturb = nullptr; }

  EngineParts parts() {
    return {m_made.program, *m_tiers, KernelTable(fake_kernel), *m_comm, m_batches, {}, nullptr};
  }

  HandMadeRun m_made;
  int m_slow = -1;
  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  NoBatches m_batches;
  std::unique_ptr<Tiers> m_tiers;  // cannot be moved
};

TEST_F(EngineReports, name_the_lane_that_compute_waits_for) {
  g_disturb = [this](Op const& op, std::uint64_t) {
    if (op.id == m_slow) std::this_thread::sleep_for(kSlow);
  };
  Engine engine(parts());
  auto const slow_s = std::chrono::duration<double>(kSlow).count();
  double waited_s = 0, host_busy_s = 0;
  // A machine may give compute no time until all is there, but not forever.
  for (int step = 0; step < 20 || (waited_s == 0 && step < 1000); ++step) {
    auto const [use, stall_s, work_s] = engine.run_step(step).lanes;
    engine.finish();
    waited_s += stall_s[index(Lane::h2d)];
    host_busy_s += use[index(Lane::host)].busy_s;
    EXPECT_GE(use[index(Lane::compute)].stall_s, stall_s[index(Lane::h2d)]);
    for (auto const other : {Lane::compute, Lane::d2h, Lane::comm, Lane::host})
      EXPECT_EQ(stall_s[index(other)], 0) << index(other);
    EXPECT_GE(host_busy_s, (step + 1) * slow_s);
  }
  EXPECT_GT(waited_s, 0);
}

// A lane is busy or waits, and never both at once.
TEST_F(EngineReports, count_no_second_twice) {
  g_disturb = [this](Op const& op, std::uint64_t) {
    if (op.id == m_slow) std::this_thread::sleep_for(kSlow);
  };
  Engine engine(parts());
  auto const begin = SteadyClock::now();
  double compute_s = 0, host_s = 0;
  for (int step = 0; step < 20; ++step) {
    auto const use = engine.run_step(step).lanes.use;
    engine.finish();
    compute_s += use[index(Lane::compute)].busy_s + use[index(Lane::compute)].stall_s;
    host_s += use[index(Lane::host)].busy_s + use[index(Lane::host)].stall_s;
    EXPECT_LE(compute_s, seconds_since(begin));
    EXPECT_LE(host_s, seconds_since(begin));
  }
}

TEST_F(EngineReports, count_the_bytes_of_copies_alone) {
  Engine engine(parts());
  std::int64_t back = 0;
  for (int step = 0; step < 10; ++step) {
    auto const use = engine.run_step(step).lanes.use;
    EXPECT_EQ(use[index(Lane::h2d)].bytes, 72);
    EXPECT_EQ(use[index(Lane::host)].bytes, 0);
    EXPECT_EQ(use[index(Lane::compute)].bytes, 0);
    back += use[index(Lane::d2h)].bytes;
    EXPECT_TRUE(back == step * 40 || back == (step + 1) * 40) << back;
    engine.finish();
  }
}

// Names by number, as `top -H` shows them. One that has ended may be there for a moment longer.
std::map<std::string, std::string> threads() {
  std::map<std::string, std::string> names;
  for (auto const& thread : std::filesystem::directory_iterator("/proc/self/task"))
    std::getline(std::ifstream(thread.path() / "comm") >> std::ws,
                 names[thread.path().filename().string()]);
  return names;
}

TEST_F(EngineReports, threads_have_the_names_of_their_lanes) {
  auto const before = threads();
  Engine engine(parts());
  std::multiset<std::string> begun;
  for (auto const& [number, name] : threads())
    if (!before.contains(number)) begun.insert(name);
  EXPECT_EQ(begun, (std::multiset<std::string>{"host", "transfer"}));
}

TEST(SecondsByKind, are_of_ops_alone_by_their_kind) {
  Program program;
  for (auto const kind : {OpKind::matmul, OpKind::adamw}) {
    Op op;
    op.kind = kind;
    program.ops.push_back(op);
  }
  for (int const op : {0, 1, -1, 0}) {
    Item item;
    item.kind = op < 0 ? ItemKind::copy : ItemKind::op;
    item.op = std::max(op, 0);
    program.items.push_back(item);
  }
  auto const seconds = seconds_by_kind(
      program, std::vector<ItemTime>{
                   {0, 0, 1, 2}, {1, 2, 3, 7}, {2, 0, 0, 100}, {3, 8, 8, 16}, {0, 20, 32, 64}});
  EXPECT_EQ(seconds[static_cast<std::size_t>(OpKind::matmul)], 1 + 8 + 32);
  EXPECT_EQ(seconds[static_cast<std::size_t>(OpKind::adamw)], 4);
  double all = 0;
  for (auto const kind_s : seconds) all += kind_s;
  EXPECT_EQ(all, 45);
}

int g_writes = 0;
std::vector<bool> g_found_poison;  // by writes: whether all of the output held no number before

// Fills its output with the number of writes so far.
Launch bind_counting(KernelContext const&, Op const& op) {
  return [inputs = op.inputs.size(), words = op.outputs[0].shape[0]](Exec const&, void* const* p) {
    std::span const output(static_cast<std::uint64_t*>(p[inputs]), static_cast<std::size_t>(words));
    g_found_poison.push_back(std::ranges::count(output, ~std::uint64_t{0}) == words);
    std::ranges::fill(output, static_cast<std::uint64_t>(++g_writes));
  };
}
Kernel counting_kernel(OpKind) {
  return {bind_counting, bind_counting};
}

// State (c) and a buffer of two versions (a), which each step writes once, and one of one (b).
class EngineVersions : public ::testing::Test {
 protected:
  EngineVersions() {
    for (int i = 0; i < 3; ++i) m_made.buffer(Tier::device, 64);
    m_made.at_buffer(0).versions = 2;
    m_made.at_buffer(2).persistent = true;
    m_made.segment("last");
    m_made.op(Lane::compute, {}, {0});
    m_made.op(Lane::compute, {0}, {1});
    m_made.op(Lane::compute, {2}, {2});
    m_made.complete();
    m_tiers.reset(new Tiers(make_tiers(m_made.program, nullptr)));
    g_writes = 0;
    g_found_poison.clear();
  }
  std::vector<bool> found_poison_in(int steps, bool poison) {
    Engine engine({m_made.program, *m_tiers, KernelTable(counting_kernel), *m_comm, m_batches, {}},
                  {.poison = poison});
    for (int step = 0; step < steps; ++step) engine.run_step(step);
    engine.finish();
    return g_found_poison;
  }

  HandMadeRun m_made;
  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  NoBatches m_batches;
  std::unique_ptr<Tiers> m_tiers;  // cannot be moved
};

Launch bind_refused(KernelContext const&, Op const&) {
  throw std::logic_error("matmul: has an operand with gaps between its elements");
}
Kernel refused_kernel(OpKind) {
  return {bind_refused, bind_refused};
}

TEST_F(EngineVersions, of_an_op_that_its_kernel_refuses_are_named) {
  m_made.program.ops.front().name = "h.0/fc";
  EXPECT_EQ(
      test::mistake([&] {
        Engine({m_made.program, *m_tiers, KernelTable(refused_kernel), *m_comm, m_batches, {}});
      }),
      "h.0/fc: matmul: has an operand with gaps between its elements");
}

// Whatever an item may be made of, no byte outside of what it names is reached.
TEST_F(EngineVersions, of_an_item_with_other_operands_than_its_op_are_refused) {
  m_made.program.ops.front().name = "h.0/fc";
  for (Item& item : m_made.program.items)
    if (item.op == 0) item.operands.push_back(item.operands.front());
  EXPECT_EQ(
      test::mistake([&] {
        Engine({m_made.program, *m_tiers, KernelTable(counting_kernel), *m_comm, m_batches, {}});
      }),
      "h.0/fc: its item has another number of operands");
}

TEST_F(EngineVersions, are_those_of_the_last_step) {
  Engine engine({m_made.program, *m_tiers, KernelTable(counting_kernel), *m_comm, m_batches, {}});
  auto const first_word = [&](TensorId tensor) {
    return *reinterpret_cast<std::uint64_t const*>(engine.bytes(tensor).data());
  };
  for (std::uint64_t step = 0; step < 4; ++step) {
    engine.run_step(static_cast<std::int64_t>(step));
    engine.finish();
    EXPECT_EQ(first_word(0), 3 * step + 1);
    EXPECT_EQ(first_word(2), 3 * step + 3);
    auto const times = engine.last_step_times();
    ASSERT_EQ(times.size(), 3u);
    for (auto const& time : times) EXPECT_GT(time.end_s, 0) << "of this step, not of the next";
  }
}

TEST_F(EngineVersions, hold_no_numbers_before_they_are_written_with_poison) {
  std::vector<bool> const twice = {true, true, false, true, true, false};
  EXPECT_EQ(found_poison_in(2, true), twice) << "state keeps its bytes";
#ifndef __SANITIZE_ADDRESS__  // which lets nobody read what the last step has not written
  auto const even = host_bytes(*m_tiers, m_made.at_buffer(0), 0);
  EXPECT_EQ(even[0], std::byte{1}) << "an odd step fills its own version alone";
#endif
}

TEST_F(EngineVersions, keep_what_they_held_without_poison) {
  EXPECT_EQ(found_poison_in(3, false), std::vector<bool>(9, false));
}

// Where bytes become those of another lifetime, which debug.poison fills with NaNs.
TEST(FirstWrites, begin_the_lifetimes_of_a_step) {
  HandMade made(4);  // the middle segment comes twice
  auto const gradient = made.buffer(Tier::device, 8), scratch = made.buffer(Tier::host, 16);
  auto const state = made.buffer(Tier::device, 24), away = made.buffer(Tier::nvme, 32);
  auto const later = made.buffer(Tier::device, 40), last = made.buffer(Tier::device, 48);
  made.program.buffers[static_cast<std::size_t>(state)].persistent = true;
  for (auto const id : {gradient, later, last})
    made.program.buffers[static_cast<std::size_t>(id)].spanning = true;
  made.segment("first");
  made.item(Lane::compute, {}, {gradient, scratch, state, away});
  made.item(Lane::compute, {scratch}, {scratch});
  made.segment("middle");
  made.item(Lane::compute, {}, {later, scratch, gradient});
  made.segment("last");
  made.item(Lane::compute, {scratch}, {scratch});
  made.item(Lane::compute, {}, {later});
  made.segment("update");
  made.item(Lane::compute, {}, {last, scratch});
  made.item(Lane::compute, {}, {last});
  std::vector<std::vector<BufferId>> found;
  for (auto const& writes : first_writes(made.program)) {
    found.emplace_back();
    for (auto const& write : writes) {
      found.back().push_back(write.buffer);
      EXPECT_EQ(write.last, made.program.buffers[static_cast<std::size_t>(write.buffer)].bytes);
    }
  }
  EXPECT_EQ(found, (std::vector<std::vector<BufferId>>{
                       {gradient, scratch}, {}, {scratch}, {}, {}, {last, scratch}, {}}));
}

}  // namespace
}  // namespace spillway::engine_reports_test
