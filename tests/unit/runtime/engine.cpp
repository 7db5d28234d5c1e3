#include "runtime/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <thread>

#include "base/error.hpp"
#include "io/ring/scripted_queue.hpp"
#include "io/spill/spill_file.hpp"
#include "plan/data/program.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::engine_test {
namespace {

using namespace test;

constexpr std::int64_t kWordBytes = 8;

View view_of(Program const& program, Access const& access) {
  auto const& buffer = program.buffers[static_cast<std::size_t>(access.buffer)];
  return {
      buffer.tensor, access.first / kWordBytes, {(access.last - access.first) / kWordBytes}, {1}};
}

// The random Programs' items that are no copies, as fake ops on what they access.
Program runnable(Program program) {
  for (auto& item : program.items) {
    if (item.kind == ItemKind::copy) continue;
    Op op;
    op.id = item.op = static_cast<int>(program.ops.size());
    for (auto const& read : item.reads) op.inputs.push_back(view_of(program, read));
    for (auto const& write : item.writes) op.outputs.push_back(view_of(program, write));
    item.kind = ItemKind::op;
    item.operands.clear();
    for (auto const& read : item.reads) item.operands.push_back(read.buffer);
    for (auto const& write : item.writes) item.operands.push_back(write.buffer);
    program.ops.push_back(op);
  }
  return program;
}

// Runs items one by one, every buffer's version in memory of its own.
class Reference {
 public:
  explicit Reference(Program const& program) : m_program(program) {}

  void run_step(std::int64_t step) {
    for (int const s : segment_sequence(m_program)) {
      auto const& segment = m_program.segments[static_cast<std::size_t>(s)];
      for (auto n = segment.first; n < segment.last; ++n) {
        run(m_program.items[static_cast<std::size_t>(n)], step % 2);
      }
    }
  }

 private:
  std::byte* bytes(BufferId id, std::int64_t parity) {
    auto const& buffer = m_program.buffers[static_cast<std::size_t>(id)];
    auto& memory = m_memory[{id, buffer.versions > 1 ? parity : 0}];
    memory.resize(static_cast<std::size_t>(buffer.bytes));
    return memory.data();
  }

  void run(Item const& item, std::int64_t parity) {
    if (item.kind == ItemKind::copy) {
      auto const size = m_program.buffers[static_cast<std::size_t>(item.operands[0])].bytes;
      std::memcpy(bytes(item.operands[1], parity), bytes(item.operands[0], parity),
                  static_cast<std::size_t>(size));
      return;
    }
    std::vector<void*> pointers;
    for (auto const& access : accesses(item))
      pointers.push_back(bytes(access.buffer, parity) + access.first);
    run_fake(m_program.ops[static_cast<std::size_t>(item.op)], pointers.data());
  }

  Program const& m_program;
  std::map<std::pair<BufferId, std::int64_t>, std::vector<std::byte>> m_memory;
};

class EngineRun : public ::testing::Test {
 protected:
  void TearDown() override { g_disturb = nullptr; }

  EngineParts parts(Program const& program, Tiers& tiers) {
    return {program, tiers, KernelTable(fake_kernel), *m_comm, m_batches, {}, nullptr};
  }

  std::vector<std::uint64_t> run_engine(Program const& program, int steps, EngineDebug debug) {
    SpillFile spill(::testing::TempDir(), program.peak_bytes[2], {});
    return run_engine(program, steps, debug, spill);
  }
  std::vector<std::uint64_t> run_engine(Program const& program, int steps, EngineDebug debug,
                                        SpillFile& spill) {
    g_digests.assign(program.ops.size(), 0);
    auto tiers = make_tiers(program, &spill);
    Engine engine(parts(program, tiers), debug);
    for (int step = 0; step < steps; ++step) engine.run_step(step);
    engine.finish();
    return g_digests;
  }

  std::vector<std::uint64_t> run_reference(Program const& program, int steps) {
    g_digests.assign(program.ops.size(), 0);
    Reference reference(program);
    for (int step = 0; step < steps; ++step) reference.run_step(step);
    return g_digests;
  }

  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  NoBatches m_batches;
};

TEST_F(EngineRun, overlapping_lanes_compute_what_items_one_by_one_would) {
  Random random(7);
  for (int i = 0; i < 150; ++i) {
    auto const program = runnable(random_program(random));
    g_disturb = [](Op const&, std::uint64_t digest) {
      if (digest % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(digest % 97));
    };
    auto const measured = run_engine(program, 5, {});
    g_disturb = nullptr;
    ASSERT_EQ(measured, run_reference(program, 5)) << "program " << i;
  }
}

TEST_F(EngineRun, storage_may_answer_in_any_order_and_in_parts) {
  Random random(16), draws(17);
  auto const script = [&](TransferRequest const& request) -> std::optional<std::int64_t> {
    if (draws() % 3 == 0) return {};
    return static_cast<std::int64_t>(1 + draws() % request.memory.size());
  };
  for (int i = 0; i < 60; ++i) {
    auto const program = runnable(random_program(random));
    SpillFile spill(::testing::TempDir(), program.peak_bytes[2], {},
                    MadeQueue{std::make_unique<ScriptedQueue>(1 + i % 5, 1, script), ""});
    ASSERT_EQ(run_engine(program, 5, {}, spill), run_reference(program, 5)) << "program " << i;
  }
}

TEST_F(EngineRun, poison_and_a_locked_allocator_change_nothing) {
  Random random(8);
  for (int i = 0; i < 60; ++i) {
    auto const program = runnable(random_program(random));
    ASSERT_EQ(run_engine(program, 4, {.poison = true, .locked_allocator = true}),
              run_reference(program, 4))
        << "program " << i;
  }
}

// What the first test would see if the engine took no notice of waits.
TEST_F(EngineRun, without_its_waits_a_program_goes_wrong) {
  Random random(9);
  int wrong = 0;
  for (int i = 0; i < 60; ++i) {
    auto program = runnable(random_program(random));
    for (auto& item : program.items) item.waits.clear();
    g_disturb = [](Op const&, std::uint64_t digest) {
      std::this_thread::sleep_for(std::chrono::microseconds(digest % 200));
    };
    try {
      wrong += run_engine(program, 3, {}) != run_reference(program, 3);
    } catch (Error const&) {  // bytes read back before they were written
      ++wrong;
    }
    g_disturb = nullptr;
  }
  EXPECT_GT(wrong, 0);
}

TEST_F(EngineRun, measured_peaks_are_the_planned_ones) {
  Random random(10);
  for (int i = 0; i < 40; ++i) {
    auto const program = runnable(random_program(random));
    g_digests.assign(program.ops.size(), 0);
    SpillFile spill(::testing::TempDir(), program.peak_bytes[2], {});
    auto tiers = make_tiers(program, &spill);
    Engine engine(parts(program, tiers), {});
    engine.run_step(0);
    engine.finish();
    for (std::size_t tier = 0; tier < kTiers; ++tier) {
      if (program.peak_bytes[tier] == program.persistent_bytes[tier]) continue;  // may lie unused
      EXPECT_EQ(tiers.in_use[tier].value(), program.peak_bytes[tier]);
    }
  }
}

TEST_F(EngineRun, buffers_of_two_versions_take_turns) {
  Random random(15);
  auto const has_two = [](Program const& program) {
    return std::ranges::any_of(program.buffers, [](auto const& b) { return b.versions == 2; });
  };
  auto program = runnable(random_program(random));
  while (!has_two(program)) program = runnable(random_program(random));
  auto const tensor = std::ranges::find(program.buffers, 2, &Buffer::versions)->tensor;
  g_digests.assign(program.ops.size(), 0);
  SpillFile spill(::testing::TempDir(), program.peak_bytes[2], {});
  auto tiers = make_tiers(program, &spill);
  Engine engine(parts(program, tiers));
  engine.run_step(0);
  engine.finish();
  auto const even = engine.bytes(tensor);
  engine.run_step(1);
  engine.finish();
  auto const odd = engine.bytes(tensor);
  EXPECT_NE(even.data(), odd.data());
  auto const written = [](std::byte b) { return b != std::byte{0}; };
  EXPECT_TRUE(std::ranges::any_of(odd, written));
  engine.run_step(2);
  engine.finish();
  EXPECT_EQ(engine.bytes(tensor).data(), even.data());
}

TEST_F(EngineRun, times_name_every_execution_in_order) {
  Random random(11);
  auto program = runnable(random_program(random));
  while (program.micro_batches < 4) program = runnable(random_program(random));
  g_digests.assign(program.ops.size(), 0);
  SpillFile spill(::testing::TempDir(), program.peak_bytes[2], {});
  auto tiers = make_tiers(program, &spill);
  Engine engine(parts(program, tiers), {});
  engine.run_step(0);
  engine.finish();
  std::vector<ItemNumber> expected;
  for (int const s : segment_sequence(program)) {
    auto const& segment = program.segments[static_cast<std::size_t>(s)];
    for (auto n = segment.first; n < segment.last; ++n) expected.push_back(n);
  }
  auto const times = engine.last_step_times();
  ASSERT_EQ(times.size(), expected.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i].item, expected[i]);
    EXPECT_LE(0, times[i].ready_s);
    EXPECT_LE(times[i].ready_s, times[i].start_s);
    EXPECT_LE(times[i].start_s, times[i].end_s);
  }
}

TEST_F(EngineRun, what_an_item_throws_on_any_lane_comes_out_on_the_callers_thread) {
  Random random(12);
  for (int i = 0; i < 40; ++i) {
    auto const program = runnable(random_program(random));
    g_digests.assign(program.ops.size(), 0);
    auto const victim = static_cast<int>(random() % program.ops.size());
    g_disturb = [victim](Op const& op, std::uint64_t) {
      if (op.id == victim) throw std::runtime_error("as planned");
    };
    SpillFile spill(::testing::TempDir(), program.peak_bytes[2], {});
    auto tiers = make_tiers(program, &spill);
    Engine engine(parts(program, tiers), {});
    auto const run = [&] {
      engine.run_step(0);  // other lanes may still be at work
      engine.finish();
    };
    EXPECT_THROW(run(), std::runtime_error);
    EXPECT_THROW(engine.run_step(1), std::runtime_error);  // it stays ended
    EXPECT_THROW(engine.finish(), std::runtime_error);
  }
}

TEST_F(EngineRun, a_kernel_that_allocates_after_step_zero_ends_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const run = [this] {
    Random random(14);
    auto const program = runnable(random_program(random));
    g_disturb = [](Op const&, std::uint64_t) {
      static std::vector<int>* volatile kept = nullptr;
      kept = new std::vector<int>(100);
      delete kept;
    };
    run_engine(program, 1, {.locked_allocator = true});
    std::fputs("step 0 may\n", stderr);
    run_engine(program, 2, {.locked_allocator = true});
  };
  EXPECT_DEATH(run(), "step 0 may\ndebug.locked_allocator");
}

TEST_F(EngineRun, thousands_of_steps_of_tiny_items_stay_in_order) {
  Random random(13);
  auto const program = runnable(random_program(random));
  constexpr int kSteps = 3000;
  auto const start = std::chrono::steady_clock::now();
  auto const measured = run_engine(program, kSteps, {});
  std::chrono::duration<double, std::micro> const elapsed =
      std::chrono::steady_clock::now() - start;
  EXPECT_EQ(measured, run_reference(program, kSteps));
  std::printf("%.1f us a step of %zu items\n", elapsed.count() / kSteps, program.items.size());
}

}  // namespace
}  // namespace spillway::engine_test
