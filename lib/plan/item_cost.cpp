#include "plan/item_cost.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

namespace spillway {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double seconds(double amount, double giga_per_s) {
  return giga_per_s > 0 ? amount / (giga_per_s * 1e9) : 0;
}

double found_or(std::map<std::string, double, std::less<>> const& values, std::string const& key,
                double fallback) {
  auto const found = values.find(key);
  return found == values.end() ? fallback : found->second;
}

class Costs {
 public:
  Costs(Program const& program, Machine const& machine)
      : m_program(program), m_machine(machine) {}

  ItemCost of(Item const& item) {
    auto cost = item.kind == ItemKind::op ? op_cost(item) : move_cost(item);
    cost.seconds += m_machine.item_overhead_s;
    return cost;
  }

 private:
  // Ops are repeated by recomputation and by micro-batches: each is looked up once.
  ItemCost op_cost(Item const& item) {
    bool const host = item.lane == Lane::host;
    auto const [found, is_new] = m_op_s.try_emplace(2 * item.op + (host ? 1 : 0), 0);
    auto const& op = m_program.ops[static_cast<std::size_t>(item.op)];
    if (is_new) found->second = op_s(op, host ? "host " : "");
    ItemCost cost{found->second};
    demand(cost, Resource::cores) = host ? 1 : m_machine.compute_cores;
    auto const traffic = static_cast<double>(traffic_bytes(op, m_program.tensors));
    if (cost.seconds > 0) demand(cost, Resource::memory) = traffic / cost.seconds * 1e-9;
    return cost;
  }

  // Matrix products run at the rate of their operands' type; other flops are hidden by memory.
  double op_s(Op const& op, std::string const& lane) const {
    if (!m_machine.op_s.empty()) {
      auto const measured = m_machine.op_s.find(lane + cost_key(op, m_program.tensors));
      if (measured != m_machine.op_s.end()) return measured->second;
    }
    auto const kind = lane + std::string(name(op.kind));
    auto const traffic = static_cast<double>(traffic_bytes(op, m_program.tensors));
    if (op.flops == 0)
      return seconds(traffic, found_or(m_machine.kind_giga_per_s, kind, m_machine.memory_gbps));
    auto const dtype = m_program.tensors[static_cast<std::size_t>(op.inputs[0].tensor)].dtype;
    double const rate =
        dtype == DType::bf16 ? m_machine.matmul_gflops_bf16 : m_machine.matmul_gflops_f32;
    return std::max(seconds(op.flops, found_or(m_machine.kind_giga_per_s, kind, rate)),
                    seconds(traffic, m_machine.memory_gbps));
  }

  ItemCost move_cost(Item const& item) const {
    auto const bytes = static_cast<double>(written_bytes(item));
    ItemCost cost;
    bool const reads = item.lane == Lane::nvme_read, writes = item.lane == Lane::nvme_write;
    if (reads || writes) {
      cost.seconds =
          seconds(bytes, reads ? m_machine.nvme_read_gbps : m_machine.nvme_write_gbps);
      demand(cost, Resource::drive) = 1;
      if (cost.seconds > 0)
        demand(cost, Resource::cores) =
            bytes * 1e-9 * m_machine.nvme_core_s_per_gb / cost.seconds;
    } else if (item.lane == Lane::comm) {
      cost.seconds = seconds(sent_bytes(item), m_machine.network_gbps);
    } else {
      double const link = item.lane == Lane::h2d ? m_machine.h2d_gbps : m_machine.d2h_gbps;
      cost.seconds = seconds(bytes, link > 0 ? link : m_machine.memory_gbps);
      if (m_machine.compute_cores > 0) demand(cost, Resource::cores) = 1;
    }
    if (cost.seconds > 0 && m_machine.compute_cores > 0)
      demand(cost, Resource::memory) = bytes / cost.seconds * 1e-9;
    return cost;
  }

  // To the other ranks; `commit` and `report` send one word.
  double sent_bytes(Item const& item) const {
    auto const ranks = static_cast<double>(m_program.ranks);
    bool const word = item.kind == ItemKind::commit || item.kind == ItemKind::report;
    return word ? 0 : static_cast<double>(written_bytes(item)) * (ranks - 1) / ranks;
  }

  static double& demand(ItemCost& cost, Resource resource) {
    return cost.demand[static_cast<std::size_t>(resource)];
  }

  Program const& m_program;
  Machine const& m_machine;
  std::unordered_map<int, double> m_op_s;  // by op and lane
};

}  // namespace

Shares capacities(Machine const& machine) {
  double const each = (machine.nvme_write_gbps + machine.nvme_read_gbps) / 2;
  double const drives = machine.nvme_both_gbps > 0 && each > 0 ? machine.nvme_both_gbps / each : 0;
  auto const known = [](double capacity) { return capacity > 0 ? capacity : kUnlimited; };
  return {known(machine.cores), known(machine.memory_gbps), known(drives)};
}

std::vector<ItemCost> item_costs(Program const& program, Machine const& machine) {
  Costs costs(program, machine);
  std::vector<ItemCost> result;
  result.reserve(program.items.size());
  for (Item const& item : program.items) result.push_back(costs.of(item));
  return result;
}

}  // namespace spillway
