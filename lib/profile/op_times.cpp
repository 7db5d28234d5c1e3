#include "profile/op_times.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/steady_clock.hpp"
#include "plan/time/item_cost.hpp"
#include "profile/busy_compute.hpp"
#include "profile/op_bench.hpp"

namespace spillway {
namespace {

// Adds up the work and the time of all ops of one kind.
struct Sum {
  double amount = 0, seconds = 0;  // `amount` is in flops if the kind counts them, else in bytes
  void add(Program const& program, Op const& op, double s) {
    amount += op.flops > 0 ? op.flops : static_cast<double>(traffic_bytes(op, program.tensors));
    seconds += s;
  }
};

// Returns whether the op passes over a chunk once, in time linear in the chunk's size. Of each kind
// of such ops, only one is measured.
bool is_linear(Op const& op) {
  return op.chunk >= 0;
}

// Returns the number of elements that most trained chunks have, which is that of a layer. The chunk
// of an embedding may take too much memory.
std::int64_t typical_elements(std::vector<Chunk> const& chunks) {
  std::map<std::int64_t, int> counts;
  for (Chunk const& chunk : chunks)
    if (chunk.trainable) ++counts[chunk.elements];
  auto const by_count = [](auto const& a, auto const& b) { return a.second < b.second; };
  auto const most = std::ranges::max_element(counts, by_count);
  return most == counts.end() ? 0 : most->first;
}

// All ops are measured in turn, this many times, so that a disturbance of a second or two meets
// most ops only once. The median is taken, since a step seldom reaches the best time.
constexpr int kRounds = 3;

struct LaneOp {
  Op const* op;
  OpBench::On lane;
};

// Returns the median, or the lower one of the two middle values, since a disturbance only makes
// things slower.
double lower_median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

// Returns the distinct ops by the keys under which their times are kept between runs.
std::map<std::string, LaneOp> ops_by_key(Program const& program, HostTrials const& trials) {
  std::string const first = OpBench::is_cached(program) ? "cached " : "";
  auto const typical = typical_elements(program.chunks);
  std::map<std::string, LaneOp> ops;
  std::set<OpKind> linear;
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::op) continue;
    Op const& op = program.ops[static_cast<std::size_t>(item.op)];
    auto const add = [&](std::string const& lane, std::int64_t threads) {
      ops.try_emplace(first + lane + cost_key(op, program.tensors), LaneOp{&op, {threads}});
    };
    if (!is_linear(op)) {
      add("", 0);
    } else if (program.chunks[static_cast<std::size_t>(op.chunk)].elements == typical &&
               linear.insert(op.kind).second) {
      add("", 0);
      for (auto const threads : trials.threads) add(host_prefix(threads), threads);
    }
  }
  return ops;
}

double or_0(OpSeconds const& seconds, std::string const& key) {
  auto const found = seconds.find(key);
  return found == seconds.end() ? 0 : found->second;
}

// Returns the time of all host lane ops for each trial, or 0 if one of the ops is not known.
std::vector<double> trial_seconds(std::map<std::string, LaneOp> const& ops,
                                  OpSeconds const& seconds, HostTrials const& trials) {
  std::vector<double> sums(trials.threads.size());
  std::vector<bool> known(sums.size(), true);
  for (auto const& [key, op] : ops) {
    if (!op.lane.is_host()) continue;
    auto const at = std::ranges::find(trials.threads, op.lane.host_threads);
    auto const i = static_cast<std::size_t>(at - trials.threads.begin());
    double const s = or_0(seconds, key);
    sums[i] += s;
    known[i] = known[i] && s > 0;
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (!known[i]) sums[i] = 0;
  return sums;
}

}  // namespace

OpSeconds distinct_ops(Program const& program, HostTrials const& trials) {
  OpSeconds seconds;
  for (auto const& [key, op] : ops_by_key(program, trials)) seconds[key] = 0;
  return seconds;
}

OpSeconds time_ops(Program const& program, OpSeconds const& known, Machine const& rates,
                   Compute const& compute, OpLimits const& limits, HostTrials const& trials,
                   TimedOps const& told) {
  auto ops = ops_by_key(program, trials);
  std::erase_if(ops, [&](auto const& entry) { return or_0(known, entry.first) > 0; });
  OpBench bench(program, compute);
  std::optional<BusyCompute> busy;
  if (trials.beside_compute) busy.emplace(compute, program.arithmetic);
  auto const measured_s = [&](LaneOp const& op) {
    auto const measure = [&] { return bench.seconds(*op.op, op.lane); };
    return busy && op.lane.is_host() ? busy->beside(measure) : measure();
  };
  auto const begin = SteadyClock::now();
  auto const expected_s = [&](LaneOp const& op) {
    auto const lane = op.lane.is_host() ? Lane::host : Lane::compute;
    return op_cost(*op.op, program.tensors, rates, lane).seconds;
  };
  std::map<std::string, std::vector<double>> rounds_s;
  std::int64_t done = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (auto const& [key, op] : ops) {
      if (told) told(done++, kRounds * std::ssize(ops));
      double const left_s = limits.patience_s - seconds_since(begin);
      if (expected_s(op) > left_s || bench.operand_bytes(*op.op) > limits.most_bytes) continue;
      rounds_s[key].push_back(measured_s(op));
    }
  }
  OpSeconds seconds;
  for (auto const& [key, op] : ops)
    seconds[key] = rounds_s.contains(key) ? lower_median(rounds_s[key]) : 0;
  return seconds;
}

void set_op_times(Machine& machine, Program const& program, OpSeconds const& seconds,
                  HostTrials const& trials) {
  auto const ops = ops_by_key(program, trials);
  auto const host_threads = best_threads(trials, trial_seconds(ops, seconds, trials));
  machine.host_cores = static_cast<double>(host_threads);
  std::map<std::string, Sum> sums;
  for (auto const& [key, op] : ops) {
    double const s = or_0(seconds, key);
    if (s <= 0 || (op.lane.is_host() && op.lane.host_threads != host_threads)) continue;
    auto const lane = std::string(op.lane.is_host() ? "host " : "");
    sums[lane + std::string(name(op.op->kind))].add(program, *op.op, s);
    if (!is_linear(*op.op)) machine.op_s[lane + cost_key(*op.op, program.tensors)] = s;
    // The rate of memory was measured once, maybe under a disturbance. An op may prove that memory
    // is faster.
    auto const traffic = static_cast<double>(traffic_bytes(*op.op, program.tensors));
    if (is_linear(*op.op) && !OpBench::is_cached(program))
      machine.memory_gbps = std::max(machine.memory_gbps, traffic / s * 1e-9);
  }
  for (auto const& [kind, sum] : sums)
    machine.kind_giga_per_s[kind] = sum.amount / sum.seconds * 1e-9;
}

}  // namespace spillway
