#include "profile/op_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device/host/host_device.hpp"
#include "graph/build.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/host/workspaces.hpp"
#include "kernels/kernel.hpp"
#include "plan/schedule/schedule.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::op_times_test {
namespace {

Program tiny_program() {
  auto config = tiny_config();
  config.model.dropout = 0.1;
  auto graph = tiny_training_graph(config);
  size_workspaces(graph, [](Graph const& g, Op const& op) {
    return workspace_bytes({g.tensors, g.chunks, g.arithmetic}, op);
  });
  return schedule(graph, make_plan(graph, {}, BlockPolicy::keep), 3, 1);
}

Compute host() {
  return {host_device(), host::kernels()};
}

OpLimits const kPatient{std::int64_t{1} << 30, INFINITY};

TEST(OpTimes, knows_every_op_of_a_step_and_the_linear_ones_on_both_lanes) {
  auto const program = tiny_program();
  Machine machine;
  set_op_times(machine, program, time_ops(program, {}, machine, host(), kPatient));
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::op) continue;
    auto const& op = program.ops[static_cast<std::size_t>(item.op)];
    std::string const kind(name(op.kind));
    EXPECT_GT(machine.kind_giga_per_s[kind], 0) << op.name;
    if (op.chunk >= 0) {
      EXPECT_GT(machine.kind_giga_per_s["host " + kind], 0) << op.name;
    } else {
      EXPECT_GT(machine.op_s[cost_key(op, program.tensors)], 0) << op.name;
    }
  }
  EXPECT_TRUE(machine.kind_giga_per_s.contains("accumulate"));
}

TEST(OpTimes, what_does_not_fit_is_left_to_rates) {
  auto const program = tiny_program();
  Machine machine;
  auto const seconds =
      time_ops(program, {}, machine, host(), {.most_bytes = 1, .patience_s = INFINITY});
  // The same keys, so that ranks can compare; nothing fits a byte.
  ASSERT_EQ(seconds, distinct_ops(program));
  EXPECT_FALSE(seconds.empty());
  set_op_times(machine, program, seconds);
  EXPECT_TRUE(machine.op_s.empty());
  EXPECT_TRUE(machine.kind_giga_per_s.empty());
  machine.matmul_gflops_f32 = machine.memory_gbps = 1e-12;  // an op would take ages
  EXPECT_EQ(time_ops(program, {}, machine, host(), {std::int64_t{1} << 30, 1}), seconds);
}

TEST(OpTimes, what_is_known_is_not_timed_again) {
  auto const program = tiny_program();
  OpSeconds known = distinct_ops(program);
  for (auto& [key, s] : known) s = 1000;
  auto const missing = known.begin()->first;
  known.begin()->second = 0;
  auto const seconds = time_ops(program, known, {}, host(), kPatient);
  ASSERT_EQ(seconds.size(), 1u);
  EXPECT_EQ(seconds.begin()->first, missing);
  EXPECT_GT(seconds.begin()->second, 0);
  Machine machine;
  set_op_times(machine, program, known);
  for (auto const& [key, s] : machine.op_s) EXPECT_EQ(s, 1000) << key;
  EXPECT_EQ(machine.kind_giga_per_s.contains("host adamw"), true);
}

// On a device's host: the fewest threads that are nearly as fast as any.
TEST(OpTimes, of_the_host_lane_are_those_of_its_best_trial) {
  auto const program = tiny_program();
  HostTrials const trials{{1, 2, 4}, true};
  auto seconds = time_ops(program, {}, {}, host(), kPatient, trials);
  ASSERT_EQ(seconds.size(), distinct_ops(program, trials).size());
  EXPECT_GT(seconds.size(), distinct_ops(program).size());
  for (auto const& [key, s] : seconds) EXPECT_GT(s, 0) << key;
  for (auto& [key, s] : seconds) {
    if (key.find("host ") != key.npos)
      s = key.find("host 4 ") != key.npos ? 0.99 : key.find("host 2 ") != key.npos ? 1 : 2;
  }
  Machine machine;
  set_op_times(machine, program, seconds, trials);
  EXPECT_EQ(machine.host_cores, 2);
  auto const two = machine.kind_giga_per_s.at("host adamw");
  set_op_times(machine, program, seconds, {{1}, true});
  EXPECT_EQ(machine.host_cores, 1);
  EXPECT_DOUBLE_EQ(machine.kind_giga_per_s.at("host adamw"), two / 2);
}

TEST(OpTimes, of_a_trial_that_lacks_any_are_no_reason_to_take_it) {
  auto const program = tiny_program();
  HostTrials const trials{{1, 2, 4}, true};
  auto seconds = distinct_ops(program, trials);
  std::vector<std::string> with_four;
  for (auto& [key, s] : seconds) {
    bool const is_of_four = key.find("host 4 ") != key.npos;
    s = is_of_four ? 0.001 : key.find("host 2 ") != key.npos ? 1 : 2;
    if (is_of_four) with_four.push_back(key);
  }
  ASSERT_GT(with_four.size(), 1u);
  Machine machine;
  set_op_times(machine, program, seconds, trials);
  EXPECT_EQ(machine.host_cores, 4);
  for (auto const& key : {with_four.front(), with_four.back()}) {
    auto known = seconds;
    known[key] = 0;
    set_op_times(machine, program, known, trials);
    EXPECT_EQ(machine.host_cores, 2) << key;
  }
}

// The first chunk is the largest one, and the last the smallest.
TEST(OpTimes, of_whole_chunks_are_of_the_size_that_most_of_them_have) {
  auto program = tiny_program();
  ASSERT_GE(program.chunks.size(), 4u);
  for (auto& chunk : program.chunks) chunk.elements = 500;
  program.chunks.front().elements = 9999;
  program.chunks.back().elements = 10;
  auto const last = static_cast<int>(program.chunks.size()) - 1;
  auto const is_of_chunk = [&](std::string const& key, int first, int end) {
    return std::ranges::any_of(program.ops, [&](Op const& op) {
      return op.chunk >= first && op.chunk < end && key.ends_with(cost_key(op, program.tensors));
    });
  };
  int linear = 0;
  for (auto const& [key, s] : distinct_ops(program)) {
    if (!is_of_chunk(key, 0, last + 1)) continue;
    ++linear;
    EXPECT_TRUE(is_of_chunk(key, 1, last)) << key;
  }
  EXPECT_GT(linear, 1);
}

TEST(HostTrials, are_what_is_asked_else_one_thread_on_cores_that_compute_else_up_to_all_but_one) {
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(host_trials(3, 2, true).threads, Counts{3});
  EXPECT_FALSE(host_trials(3, 2, true).beside_compute);
  EXPECT_EQ(host_trials({}, 16, true).threads, Counts{1});
  EXPECT_EQ(host_trials({}, 8, false).threads, (Counts{1, 2, 4, 7}));
  EXPECT_EQ(host_trials({}, 5, false).threads, (Counts{1, 2, 4}));
  EXPECT_EQ(host_trials({}, 1, false).threads, Counts{1});
  EXPECT_TRUE(host_trials({}, 8, false).beside_compute);
  EXPECT_EQ(host_trials(3, 8, false).threads, Counts{3});
}

TEST(HostTrials, without_a_time_the_first_is_the_best) {
  HostTrials const trials{{1, 2, 4}, true};
  EXPECT_EQ(best_threads(trials, std::vector{0.0, 0.0, 0.0}), 1);
  EXPECT_EQ(best_threads(trials, std::vector{0.0, 3.0, 2.0}), 4);
  EXPECT_EQ(best_threads(trials, std::vector{2.05, 3.0, 2.0}), 1);
}

// The op of a step that a key of `distinct_ops` stands for.
Op const& op_of(Program const& program, std::string const& key) {
  auto const is_it = [&](Op const& op) { return key.ends_with(cost_key(op, program.tensors)); };
  return *std::ranges::find_if(program.ops, is_it);
}

TEST(OpTimes, become_the_rates_of_their_kinds_and_whole_steps_of_memory) {
  auto program = tiny_program();
  HostTrials const trials{{2}, true};
  auto seconds = distinct_ops(program, trials);
  Numbers amounts, sums, singles;
  double s = 0;
  for (auto& [key, value] : seconds) {
    value = ++s;
    auto const& op = op_of(program, key);
    auto const lane = std::string(key.starts_with("cached host 2 ") ? "host " : "");
    auto const kind = lane + std::string(name(op.kind));
    amounts[kind] += op.flops > 0 ? op.flops : double(traffic_bytes(op, program.tensors));
    sums[kind] += s;
    if (op.chunk < 0) singles[cost_key(op, program.tensors)] = s;
  }
  Machine machine;
  set_op_times(machine, program, seconds, trials);
  EXPECT_EQ(machine.host_cores, 2);
  EXPECT_EQ(machine.memory_gbps, 0) << "that of caches";
  EXPECT_EQ(machine.op_s, singles);
  ASSERT_EQ(machine.kind_giga_per_s.size(), amounts.size());
  for (auto const& [kind, amount] : amounts)
    EXPECT_DOUBLE_EQ(machine.kind_giga_per_s.at(kind), amount / sums.at(kind) * 1e-9) << kind;
  Tensor large;
  large.shape = {std::int64_t{1} << 30};
  program.tensors.push_back(large);
  seconds = distinct_ops(program, trials);
  double fastest = 0;
  for (auto& [key, value] : seconds) {
    value = 1e-9 * ++s;
    auto const& op = op_of(program, key);
    if (op.chunk >= 0) fastest = std::max(fastest, double(traffic_bytes(op, program.tensors)) / s);
  }
  set_op_times(machine, program, seconds, trials);
  EXPECT_DOUBLE_EQ(machine.memory_gbps, fastest);
}

// Caches that hold a small step's tensors do not hold a large one's.
TEST(OpTimes, ops_of_small_steps_are_kept_apart) {
  auto program = tiny_program();
  auto const small = distinct_ops(program);
  for (auto const& [key, s] : small) EXPECT_TRUE(key.starts_with("cached ")) << key;
  Tensor large;
  large.shape = {std::int64_t{1} << 30};
  program.tensors.push_back(large);
  auto const others = distinct_ops(program);
  ASSERT_EQ(others.size(), small.size());
  for (auto const& [key, s] : others) EXPECT_FALSE(key.starts_with("cached ")) << key;
}

}  // namespace
}  // namespace spillway::test::op_times_test
