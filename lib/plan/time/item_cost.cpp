#include "plan/time/item_cost.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <variant>

#include "graph/mlp_tiles.hpp"
#include "plan/data/exchange.hpp"

namespace spillway {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double seconds(double amount, double giga_per_s) {
  return giga_per_s > 0 ? amount / (giga_per_s * 1e9) : 0;
}

// Returns the rate of the op's kind, or `fallback` if it is unknown. A rate for heads of the op's
// width ("attention 64") comes before that of the kind.
double kind_rate(Op const& op, std::string const& kind, Machine const& machine, double fallback) {
  double const rate = number_or(machine.kind_giga_per_s, kind, fallback);
  auto const* const attention = std::get_if<AttentionAttributes>(&op.attributes);
  if (attention == nullptr) return rate;
  return number_or(machine.kind_giga_per_s, fmt::format("{} {}", kind, attention->head_size), rate);
}

// Products of updates were measured on a core with AVX-512 (Zen 4): 80 Gflop/s.
constexpr double kUpdateGflopsOfCore = 80;

// Returns the rate of an op of products that was not measured.
double product_gflops(Op const& op, IdVector<Tensor> const& tensors, Machine const& machine,
                      bool on_host) {
  if (on_host) return kUpdateGflopsOfCore * static_cast<double>(machine.host_threads());
  auto const dtype = tensors[op.inputs.front().tensor].dtype;
  return dtype == DType::bf16 && op.phase != Phase::update ? machine.matmul_gflops_bf16
                                                           : machine.matmul_gflops_f32;
}

double op_s(Op const& op, IdVector<Tensor> const& tensors, Machine const& machine,
            std::string const& lane);

double tiles_s(Op const& op, IdVector<Tensor> const& tensors, Machine const& machine,
               std::string const& lane) {
  MlpTiles const tiles(op, tensors);
  auto const sum_s = [&](std::vector<Op> const& ops) {
    double sum = 0;
    for (Op const& part : ops) sum += op_s(part, tiles.tensors(), machine, lane);
    return sum;
  };
  double seconds = sum_s(tiles.last_ops());
  for (auto const [tile, count] : tiles.alike()) seconds += count * sum_s(tiles.ops(tile));
  return seconds;
}

// Returns the measured seconds of an op. If there was no measurement, estimates the seconds from
// the op's floating-point operations and memory traffic.
double op_s(Op const& op, IdVector<Tensor> const& tensors, Machine const& machine,
            std::string const& lane) {
  if (!machine.op_s.empty()) {
    auto const measured = machine.op_s.find(lane + cost_key(op, tensors));
    if (measured != machine.op_s.end()) return measured->second;
  }
  if (has_tiles(op)) return tiles_s(op, tensors, machine, lane);
  auto const kind = lane + std::string(name(op.kind));
  auto const traffic = static_cast<double>(traffic_bytes(op, tensors));
  if (op.flops == 0) {
    // An optimizer that was not measured moves its bytes as fast as adamw does.
    auto const alike = lane + std::string(name(OpKind::adamw));
    double const fallback = op.phase == Phase::update
                                ? number_or(machine.kind_giga_per_s, alike, machine.memory_gbps)
                                : machine.memory_gbps;
    return seconds(traffic, number_or(machine.kind_giga_per_s, kind, fallback));
  }
  double const rate = product_gflops(op, tensors, machine, !lane.empty());
  return std::max(seconds(op.flops, kind_rate(op, kind, machine, rate)),
                  seconds(traffic, machine.memory_gbps));
}

ItemCost transfer_cost(std::int64_t bytes, double rate_gbps, Machine const& machine, bool drive) {
  auto const amount = static_cast<double>(bytes);
  ItemCost cost{seconds(amount, rate_gbps)};
  // On a CPU, a core does the copying.
  bool const on_cpu = machine.is_unified() && machine.compute_cores > 0;
  if (cost.seconds > 0) {
    if (drive) cost.demand[Resource::drive] = rate_gbps;
    double const core_s = amount * 1e-9 * machine.nvme_core_s_per_gb;
    cost.demand[Resource::cores] = drive ? core_s / cost.seconds : on_cpu ? 1 : 0;
    if (on_cpu) cost.demand[Resource::memory] = amount / cost.seconds * 1e-9;
  }
  cost.seconds += machine.item_overhead_s;
  return cost;
}

// Only exchanges of gradients and parameters count: `commit` and `report` send very little, and a
// batch is not sent at all.
ItemCost exchange_cost(Program const& program, Item const& item, Machine const& machine) {
  bool const exchanges = item.kind == ItemKind::all_to_all || item.kind == ItemKind::all_gather;
  if (!exchanges) return send_cost(0, machine, {});
  auto const group = exchange_group(program, item, 0);
  return send_cost(written_bytes(item) * (group.count - 1) / group.count, machine, group);
}

}  // namespace

Shares capacities(Machine const& machine) {
  auto const known = [](double capacity) { return capacity > 0 ? capacity : kUnlimited; };
  return {known(machine.cores), known(machine.memory_gbps), known(machine.nvme_both_gbps)};
}

ItemCost op_cost(Op const& op, IdVector<Tensor> const& tensors, Machine const& machine, Lane lane) {
  bool const host = lane == Lane::host;
  ItemCost cost{op_s(op, tensors, machine, host ? "host " : "")};
  // No op asks for more than the machine has, so that an op alone takes its measured time.
  auto const most = capacities(machine);
  auto const ask = [&](Resource resource, double amount) {
    cost.demand[resource] = std::min(amount, most[resource]);
  };
  ask(Resource::cores, host ? static_cast<double>(machine.host_threads()) : machine.compute_cores);
  auto const traffic = static_cast<double>(traffic_bytes(op, tensors));
  if (cost.seconds > 0) ask(Resource::memory, traffic / cost.seconds * 1e-9);
  cost.seconds += machine.item_overhead_s;
  return cost;
}

ItemCost copy_cost(std::int64_t bytes, Machine const& machine, Lane lane) {
  if (lane == Lane::nvme_read) return transfer_cost(bytes, machine.nvme_read_gbps, machine, true);
  if (lane == Lane::nvme_write) return transfer_cost(bytes, machine.nvme_write_gbps, machine, true);
  double const link_gbps = lane == Lane::h2d ? machine.h2d_gbps : machine.d2h_gbps;
  return transfer_cost(bytes, link_gbps > 0 ? link_gbps : machine.memory_gbps, machine, false);
}

ItemCost send_cost(std::int64_t bytes, Machine const& machine, RankRange const& group) {
  return transfer_cost(bytes, exchange_gbps(machine, group), machine, false);
}

IdVector<ItemCost> item_costs(Program const& program, Machine const& machine) {
  std::unordered_map<int, ItemCost> ops;  // the cost of each op on each lane, since items share ops
  IdVector<ItemCost> result;
  result.reserve(program.items.size());
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::op) {
      bool const sends = item.lane == Lane::comm || item.lane == Lane::data;
      result.push_back(sends ? exchange_cost(program, item, machine)
                             : copy_cost(written_bytes(item), machine, item.lane));
      continue;
    }
    auto const [found, is_new] = ops.try_emplace(2 * item.op + (item.lane == Lane::host ? 1 : 0));
    if (is_new) found->second = op_cost(program.ops[item.op], program.tensors, machine, item.lane);
    result.push_back(found->second);
  }
  return result;
}

}  // namespace spillway
