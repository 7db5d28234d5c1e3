#include "profile/op_times.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/steady_clock.hpp"
#include "plan/item_cost.hpp"
#include "profile/op_bench.hpp"

namespace spillway {
namespace {

// What ops of one kind did in all.
struct Sum {
  double amount = 0, seconds = 0;  // of flops where the kind counts them, else of bytes
  void add(Program const& program, Op const& op, double s) {
    amount += op.flops > 0 ? op.flops : static_cast<double>(traffic_bytes(op, program.tensors));
    seconds += s;
  }
};

// Of ops on whole chunks, one of each kind will do: they pass over their elements once.
bool is_linear(Op const& op) {
  return op.chunk >= 0;
}

// The size that most chunks have: those of layers. Embeddings may take a budget's worth of memory.
std::int64_t typical_elements(std::vector<Chunk> const& chunks) {
  std::map<std::int64_t, int> counts;
  for (Chunk const& chunk : chunks) ++counts[chunk.elements];
  auto const by_count = [](auto const& a, auto const& b) { return a.second < b.second; };
  auto const most = std::ranges::max_element(counts, by_count);
  return most == counts.end() ? 0 : most->first;
}

// All ops in turn, several times over: what disturbs a machine for a second or two disturbs an op
// once at most. The median counts: the best is what a step seldom sees.
constexpr int kRounds = 3;
constexpr double kPatience_s = 6.5;

struct Timed {
  Op const* op;
  OpBench::On lane;
  std::vector<double> rounds_s;
};

// Of two the lower.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

// Keys of what is to be measured, "host " before those of the host lane.
std::map<std::string, Timed> distinct_ops(Program const& program) {
  auto const typical = typical_elements(program.chunks);
  std::map<std::string, Timed> ops;
  std::set<OpKind> linear;
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::op) continue;
    Op const& op = program.ops[static_cast<std::size_t>(item.op)];
    auto const add = [&](std::string const& lane, OpBench::On on) {
      ops.try_emplace(lane + cost_key(op, program.tensors), Timed{&op, on, {}});
    };
    if (!is_linear(op)) {
      add("", OpBench::On::compute_lane);
    } else if (program.chunks[static_cast<std::size_t>(op.chunk)].elements == typical &&
               linear.insert(op.kind).second) {
      add("", OpBench::On::compute_lane);
      add("host ", OpBench::On::host_lane);
    }
  }
  return ops;
}

}  // namespace

void measure_ops(Machine& machine, Program const& program, Exec const& exec,
                 std::int64_t most_bytes) {
  auto ops = distinct_ops(program);
  OpBench bench(program, exec);
  auto const begin = SteadyClock::now();
  auto const expected_s = [&](Timed const& timed) {
    auto const lane = timed.lane == OpBench::On::host_lane ? Lane::host : Lane::compute;
    return op_cost(*timed.op, program.tensors, machine, lane).seconds;
  };
  for (int round = 0; round < kRounds; ++round) {
    for (auto& [key, timed] : ops) {
      double const left_s = kPatience_s - seconds_since(begin);
      if (expected_s(timed) > left_s || bench.operand_bytes(*timed.op) > most_bytes) continue;
      timed.rounds_s.push_back(bench.seconds(*timed.op, timed.lane));
    }
  }
  std::map<std::string, Sum> sums;
  for (auto const& [key, timed] : ops) {
    bool const known = !timed.rounds_s.empty();
    double const s = known ? median(timed.rounds_s) : 0;
    auto const* const lane = timed.lane == OpBench::On::host_lane ? "host " : "";
    auto& sum = sums[lane + std::string(name(timed.op->kind))];
    if (known) sum.add(program, *timed.op, s);
    if (!is_linear(*timed.op)) machine.op_s[key] = s;
    // A single look at memory may have met a disturbance; what an op got through is there.
    auto const traffic = static_cast<double>(traffic_bytes(*timed.op, program.tensors));
    if (is_linear(*timed.op) && known)
      machine.memory_gbps = std::max(machine.memory_gbps, traffic / s * 1e-9);
  }
  for (auto const& [kind, sum] : sums)
    machine.kind_giga_per_s[kind] = sum.seconds > 0 ? sum.amount / sum.seconds * 1e-9 : 0;
}

}  // namespace spillway
