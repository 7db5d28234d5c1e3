// Ops are timed on operands like those of training, in memory of their own.
#include "profile/op_bench.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/bf16.hpp"
#include "device/host/host_device.hpp"
#include "graph/build.hpp"
#include "kernels/host_pool.hpp"
#include "kernels/kernel.hpp"
#include "plan/data/reach.hpp"
#include "plan/schedule/schedule.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::op_bench_test {
namespace {

// What the kernels below were launched with last.
struct Launched {
  std::string side;
  int threads = 0;
  std::vector<void*> operands;
};
Launched g_launched;

template <bool on_host>
Launch recording(KernelContext const&, Op const& op) {
  auto const count = op.inputs.size() + op.outputs.size() + (op.workspace_bytes > 0 ? 1 : 0);
  return [count](Exec const& exec, void* const* operands) {
    g_launched = {on_host ? "host" : "device",
                  exec.host_pool() != nullptr ? exec.host_pool()->threads() : 1,
                  {operands, operands + count}};
  };
}
Kernel recorder(OpKind) {
  return {recording<false>, recording<true>};
}

Program program_in(Precision precision) {
  auto config = tiny_config();
  config.precision = precision;
  config.model.dropout = 0.1;
  auto graph = tiny_training_graph(config);
  size_workspaces(graph, [](Graph const&, Op const& op) { return op.id % 2 == 0 ? 100 : 0; });
  return schedule(graph, make_plan(graph, {}, BlockPolicy::keep), 3, 1);
}

double value_of(DType dtype, std::byte const* at) {
  auto const read = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::f32:
      return read(0.0f);
    case DType::bf16:
      return to_float(read(bf16{}));
    case DType::i32:
      return read(std::int32_t{});
    case DType::f64:
      return read(0.0);
    default:
      return std::to_integer<int>(*at);
  }
}

void expect_filled(Op const& op, Tensor const& tensor, std::byte const* first) {
  std::set<double> values;
  for (std::int64_t i = 0; i < element_count(tensor.shape); ++i)
    values.insert(value_of(tensor.dtype, first + i * size_bytes(tensor.dtype)));
  double const least = *values.begin(), most = *values.rbegin();
  SCOPED_TRACE(op.name + ", " + tensor.name);
  bool const is_real = tensor.dtype == DType::f32 || tensor.dtype == DType::bf16;
  if (tensor.dtype == DType::f64 || (is_real && tensor.role == Role::batch)) {
    EXPECT_EQ(values, std::set{1.0}) << "weights";
  } else if (is_real) {
    EXPECT_GE(least, -0.1004);
    EXPECT_LE(most, 0.1004);
    if (element_count(tensor.shape) >= 1000) {
      EXPECT_LT(least, -0.09);
      EXPECT_GT(most, 0.09);
      EXPECT_GT(values.size(), 200u);
    }
  } else if (tensor.dtype == DType::i32) {
    // Only tokens and targets pick rows: those of the vocabulary.
    EXPECT_GE(least, 0);
    EXPECT_LT(most, kTinyVocab);
    if (op.kind == OpKind::embed && op.inputs[0].tensor == tensor.id) {
      EXPECT_GT(most, kTinyVocab / 2) << "from all over the table";
    }
  } else {
    EXPECT_EQ(values, std::set{0.0});
  }
}

// Whole tensors, each once, one behind the other on pages of their own, and the workspace behind.
void expect_placed(Program const& program, Op const& op, std::int64_t bytes) {
  std::map<TensorId, std::byte*> first;
  auto operand = g_launched.operands.begin();
  for (auto const* views : {&op.inputs, &op.outputs}) {
    for (View const& view : *views) {
      auto* const at = static_cast<std::byte*>(*operand++);
      if (!is_present(view)) {
        EXPECT_EQ(at, nullptr) << op.name;
        continue;
      }
      auto const& tensor = program.tensors[view.tensor];
      auto const [known, is_new] =
          first.try_emplace(view.tensor, at - view.offset * size_bytes(tensor.dtype));
      EXPECT_EQ(known->second, at - view.offset * size_bytes(tensor.dtype)) << op.name;
    }
  }
  std::vector<std::pair<std::byte*, std::int64_t>> ranges;
  for (auto const& [id, at] : first) {
    ranges.emplace_back(at, program.tensors[id].bytes());
    expect_filled(op, program.tensors[id], at);
  }
  if (op.workspace_bytes > 0)
    ranges.emplace_back(static_cast<std::byte*>(*operand++), op.workspace_bytes);
  std::ranges::sort(ranges);
  for (std::size_t i = 0; i + 1 < ranges.size(); ++i)
    EXPECT_LE(ranges[i].first + ranges[i].second, ranges[i + 1].first) << op.name;
  EXPECT_LE(ranges.back().first + ranges.back().second - ranges.front().first, bytes) << op.name;
}

TEST(OpBench, binds_whole_tensors_filled_like_those_of_training) {
  for (auto const precision : {Precision::fp32, Precision::bf16}) {
    auto const program = program_in(precision);
    Compute const compute{host_device(), KernelTable(recorder)};
    OpBench bench(program, compute);
    for (Op const& op : program.ops) {
      if (op.inputs.empty() && op.outputs.empty()) continue;
      EXPECT_GE(bench.seconds(op, {}), 0);
      EXPECT_EQ(g_launched.side, "device");
      expect_placed(program, op, bench.operand_bytes(op));
    }
  }
}

TEST(OpBench, runs_each_lane_s_kernels_with_its_threads) {
  auto const program = program_in(Precision::fp32);
  Compute const compute{host_device(), KernelTable(recorder)};
  OpBench bench(program, compute);
  for (int const threads : {1, 3}) {
    bench.seconds(program.ops[0], {threads});
    EXPECT_EQ(g_launched.side, "host");
    EXPECT_EQ(g_launched.threads, threads);
  }
  bench.seconds(program.ops[0], {});
  EXPECT_EQ(g_launched.side, "device");
  EXPECT_EQ(g_launched.threads, 1);
}

// Returns whether the host may read the byte at this address: a device's memory traps.
bool is_main_memory(void const* at) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  bool const can_read = ::write(pipe[1], at, 1) == 1;
  for (int const end : pipe) ::close(end);
  return can_read;
}

// Batches and scalars lie in pinned memory in a run, and kernels reach them over the link.
TEST(OpBench, has_operands_where_a_run_beside_a_device_has_them) {
  DeviceUnderTest on(false);
  if (!on.is_stand_in()) GTEST_SKIP() << "there is no stand-in without CUDA's headers";
  auto const program = program_in(Precision::fp32);
  Compute const compute{on.device(), Kernels(KernelTable(recorder), recorder)};
  int exchanged = 0, others = 0;
  {
    OpBench bench(program, compute);
    for (Op const& op : program.ops) {
      for (auto const lane : {OpBench::On{}, OpBench::On{1}}) {
        bench.seconds(op, lane);
        auto operand = g_launched.operands.begin();
        for (auto const* views : {&op.inputs, &op.outputs}) {
          for (View const& view : *views) {
            auto* const at = static_cast<std::byte*>(*operand++);
            if (!is_present(view)) continue;
            auto const& tensor = program.tensors[view.tensor];
            bool const is_exchanged = is_exchanged_with_host(tensor);
            EXPECT_EQ(is_main_memory(at), is_exchanged || lane.is_host())
                << op.name << ", " << tensor.name;
            (is_exchanged ? exchanged : others) += 1;
            if (is_exchanged || lane.is_host())
              expect_filled(op, tensor, at - view.offset * size_bytes(tensor.dtype));
          }
        }
        if (op.workspace_bytes > 0) {
          EXPECT_EQ(is_main_memory(*operand), lane.is_host()) << op.name;
        }
      }
    }
  }
  EXPECT_GT(exchanged, 10);
  EXPECT_GT(others, exchanged);
  on.expect_sound();
}

// Tokens pick from the first table; positions and types pick from no row that the shortest lacks.
TEST(OpBench, picks_rows_from_the_whole_of_the_table_that_the_numbers_are_for) {
  Program program;
  auto const tensor = [&](Role role, DType dtype, Shape const& shape) {
    Tensor added;
    added.id = static_cast<TensorId>(program.tensors.size());
    added.role = role;
    added.dtype = dtype;
    added.shape = shape;
    program.tensors.push_back(added);
    return whole(added);
  };
  auto const numbers = [&] { return tensor(Role::batch, DType::i32, {3000}); };
  Op forward, backward, without;
  forward.inputs = {numbers(), tensor(Role::parameter, DType::f32, {50, 2}),
                    tensor(Role::parameter, DType::f32, {7, 2}), numbers(),
                    tensor(Role::parameter, DType::f32, {2})};
  forward.outputs = {tensor(Role::activation, DType::f32, {2, 3})};
  backward.inputs = {numbers(), tensor(Role::activation, DType::f32, {3, 2})};
  backward.outputs = {tensor(Role::gradient, DType::f32, {11, 2})};
  without.inputs = {numbers()};
  Compute const compute{host_device(), KernelTable(recorder)};
  OpBench bench(program, compute);
  auto const rows_of = [&](Op const& op, std::size_t operand) {
    bench.seconds(op, {});
    std::set<std::int32_t> rows;
    auto const* const first = static_cast<std::int32_t const*>(g_launched.operands[operand]);
    rows.insert(first, first + 3000);
    EXPECT_EQ(*rows.begin(), 0);
    EXPECT_EQ(*rows.rbegin() + 1, std::ssize(rows)) << "all of them";
    return std::ssize(rows);
  };
  EXPECT_EQ(rows_of(forward, 0), 50);
  EXPECT_EQ(rows_of(forward, 3), 7);
  EXPECT_EQ(rows_of(backward, 0), 11);
  EXPECT_EQ(rows_of(without, 0), 1);
}

double g_lasts_s = 0;
int g_runs = 0;

Launch lasting(KernelContext const&, Op const&) {
  return [](Exec const&, void* const*) {
    ++g_runs;
    for (auto const begin = SteadyClock::now(); seconds_since(begin) < g_lasts_s;) continue;
  };
}
Kernel of_some_length(OpKind) {
  return {lasting, lasting};
}

// No time decides: where the machine is slow, there are fewer runs.
TEST(OpBench, runs_an_op_the_fewer_times_the_longer_it_takes) {
  auto const program = program_in(Precision::fp32);
  Compute const compute{host_device(), KernelTable(of_some_length)};
  OpBench bench(program, compute);
  for (auto const& lane : {OpBench::On{}, OpBench::On{1}}) {
    for (auto const& [seconds, most_runs] : {std::pair(0.06, 1), {0.03, 2}, {0.0, 3}}) {
      g_lasts_s = seconds;
      g_runs = 0;
      EXPECT_GE(bench.seconds(program.ops[0], lane), seconds);
      EXPECT_LE(g_runs, most_runs) << seconds;
      EXPECT_GE(g_runs, 1);
    }
  }
}

// 32 MiB pass through the caches of nearly all machines.
TEST(OpBench, tells_steps_that_caches_hold_from_others) {
  auto program = program_in(Precision::fp32);
  program.tensors.clear();
  Tensor tensor;
  tensor.shape = {std::int64_t{4} << 20};  // 16 MiB
  program.tensors.push_back(tensor);
  program.tensors.push_back(tensor);
  EXPECT_TRUE(OpBench::is_cached(program));
  tensor.shape = {1};
  program.tensors.push_back(tensor);
  EXPECT_FALSE(OpBench::is_cached(program));
}

}  // namespace
}  // namespace spillway::test::op_bench_test
