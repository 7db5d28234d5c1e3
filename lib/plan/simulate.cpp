#include <algorithm>

#include "plan/passes.hpp"
#include "plan/unroll.hpp"

namespace spillway {

namespace {

double seconds(double amount, double giga_per_s) {
  return giga_per_s > 0 ? amount / (giga_per_s * 1e9) : 0;
}

// Matrix products run at the rate of their operands' type; other flops are hidden by memory.
double op_s(Program const& program, Op const& op, Machine const& machine) {
  double const memory_s =
      seconds(static_cast<double>(traffic_bytes(op, program.tensors)), machine.memory_gbps);
  if (op.inputs.empty()) return memory_s;
  auto const dtype = program.tensors[static_cast<std::size_t>(op.inputs.front().tensor)].dtype;
  double const rate = dtype == DType::bf16 ? machine.matmul_gflops_bf16 : machine.matmul_gflops_f32;
  return std::max(seconds(op.flops, rate), memory_s);
}

// What one rank sends to the others; `commit` and `report` send one word.
double network_bytes(Program const& program, Item const& item) {
  auto const ranks = static_cast<double>(program.ranks);
  auto const bytes = static_cast<double>(written_bytes(item));
  bool const word = item.kind == ItemKind::commit || item.kind == ItemKind::report;
  return word ? 0 : bytes * (ranks - 1) / ranks;
}

double item_s(Program const& program, Item const& item, Machine const& machine) {
  auto const bytes = static_cast<double>(written_bytes(item));
  double busy_s = 0;
  if (item.kind == ItemKind::op) {
    busy_s = op_s(program, program.ops[static_cast<std::size_t>(item.op)], machine);
  } else if (item.lane == Lane::nvme_write) {
    busy_s = seconds(bytes, machine.nvme_write_gbps);
  } else if (item.lane == Lane::nvme_read) {
    busy_s = seconds(bytes, machine.nvme_read_gbps);
  } else if (item.lane == Lane::comm) {
    busy_s = seconds(network_bytes(program, item), machine.network_gbps);
  } else {
    busy_s = seconds(bytes, machine.memory_gbps);
  }
  return busy_s + machine.item_overhead_s;
}

struct Clockwork {
  std::array<double, kLanes> free_s{};  // when the lane's last item ends
  std::vector<double> end_s;            // per item: when its latest instance is published
};

// A lane is one link or one worker, so its items share its rate one after the other.
Simulation::Span advance(Clockwork& clockwork, Item const& item, double duration_s) {
  double& free_s = clockwork.free_s[index(item.lane)];
  double start_s = free_s;
  for (ItemNumber const wait : item.waits) {
    start_s = std::max(start_s, clockwork.end_s[static_cast<std::size_t>(wait)]);
  }
  free_s = start_s + duration_s;
  clockwork.end_s[static_cast<std::size_t>(item.number)] = free_s;
  return {item.number, start_s, free_s};
}

}  // namespace

// Two steps without a barrier; the second is the steady state.
Simulation simulate(Program const& program, Machine const& machine) {
  Simulation result;
  Clockwork clockwork;
  clockwork.end_s.assign(program.items.size(), 0);
  double first_step_s = 0, end_s = 0;
  for (Instance const& now : unroll(program, segment_sequence(program), 2)) {
    Item const& item = program.items[static_cast<std::size_t>(now.item)];
    auto const span = advance(clockwork, item, item_s(program, item, machine));
    end_s = std::max(end_s, span.end_s);
    if (now.step == 0) {
      first_step_s = end_s;
      continue;
    }
    result.spans.push_back({span.item, span.start_s - first_step_s, span.end_s - first_step_s});
    auto const lane = index(item.lane);
    result.busy_s[lane] += span.end_s - span.start_s;
    result.bytes[lane] += written_bytes(item);
  }
  result.step_s = end_s - first_step_s;
  return result;
}

}  // namespace spillway
