#include "run/measured_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/count.hpp"
#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "base/work_progress.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "plan/schedule/schedule.hpp"
#include "plan/search/solve.hpp"
#include "profile/compute_lane.hpp"
#include "profile/drives.hpp"
#include "profile/machine_probe.hpp"
#include "profile/network_probe.hpp"
#include "profile/shared_profile.hpp"
#include "run/data_sheet.hpp"
#include "run/profile_key.hpp"
#include "samples/batch_shape.hpp"

namespace spillway {
namespace {

// Returns a Program with every op that a plan may launch, including the ops that sum gradients over
// micro-batches and ranks. Other runs, which a machine file may be used for, have several of the
// former even if this one has a single micro-batch.
Program training_ops(Config const& config, std::int64_t vocab, Choices const& choices,
                     std::int64_t ranks, std::string_view target) {
  auto const graph = training_graph(config, vocab, make_arithmetic(config, choices, ranks, target));
  auto const shape = batch_shape(config.batch, choices.micro, 0, ranks);
  auto const plan = make_plan(graph, {});
  constexpr std::int64_t several = 2;
  return schedule(graph, plan, std::max(several, shape.most_micro_batches()), ranks);
}

constexpr auto kLinkRates = {&Machine::h2d_gbps, &Machine::d2h_gbps};

Rates compute_rates(Config const& config, bool with_links) {
  bool const bf16 = config.precision == Precision::bf16;
  Rates rates = {bf16 ? &Machine::matmul_gflops_bf16 : &Machine::matmul_gflops_f32,
                 &Machine::memory_gbps};
  if (with_links) rates.insert(rates.end(), kLinkRates);
  return rates;
}

Rates drive_rates(bool with_links) {
  Rates rates = {&Machine::nvme_write_gbps, &Machine::nvme_read_gbps, &Machine::nvme_both_gbps,
                 &Machine::nvme_core_s_per_gb};
  if (with_links) rates.insert(rates.end(), kLinkRates);
  return rates;
}

// Returns the rates that can be measured with this number of nodes and of ranks on a node.
Rates network_rates(Comm& comm) {
  Rates rates;
  auto const most_on_node = std::ranges::max(gathered(comm, comm.local_size()));
  if (most_on_node > 1) rates.push_back(&Machine::node_gbps);
  if (most_on_node < comm.size()) rates.push_back(&Machine::network_gbps);
  return rates;
}

Machine only(Machine const& machine, Rates const& rates) {
  Machine result;
  for (auto const rate : rates) result.*rate = machine.*rate;
  return result;
}

std::size_t count_known(OpSeconds const& ops) {
  return static_cast<std::size_t>(
      std::ranges::count_if(ops, [](auto const& op) { return op.second > 0; }));
}

// A Profiler collects what is known of a run's machine, and measures the rest. All ranks must call
// each of its functions.
class Profiler {
 public:
  Profiler(Config const& config, Program const& program, Compute const& compute, About const& key,
           HostTrials const& trials, ProfileCache const& cache, Comm& comm)
      : m_config(config),
        m_program(program),
        m_compute(compute),
        m_trials(trials),
        m_comm(comm),
        m_links_beside_drive(compute.device.has_own_memory() && config.memory.has_nvme_here()),
        m_rates(compute_rates(config, !m_links_beside_drive)),
        m_drive_rates(drive_rates(m_links_beside_drive)),
        m_network_rates(network_rates(comm)),
        m_file(cache, key, comm),
        m_network_file(cache, network_key(key, network_name(comm)), comm) {
    m_known = m_file.find(m_rates, distinct_ops(program, trials), comm);
    learn(m_known, m_network_file.find(m_network_rates, {}, comm));
    if (!config.memory.has_nvme_here()) return;
    m_drive_file.emplace(cache, drive_key(key, config), comm);
    learn(m_known, m_drive_file->find(m_drive_rates, {}, comm));
  }

  void measure(double cores, std::int64_t memory_bytes) {
    auto const begin = SteadyClock::now();
    on_all_ranks(m_comm, [&] {
      if (rates_are_new()) m_mine = only(probe_machine(m_compute, m_program.arithmetic), m_rates);
    });
    if (network_is_new()) probe_network(m_mine, m_comm);
    m_comm.agree(0);  // ranks begin together, since they may share a drive
    on_all_ranks(m_comm, [&] {
      if (drive_is_new())
        probe_storage(m_mine, m_config.memory.nvme_paths_here(), m_config.spill.checksum,
                      m_compute.device);
      auto rates = m_known;
      learn(rates, m_mine);
      time_all_ops(rates, memory_bytes);
      m_compute.device.check();  // throws if the device failed, since its op times are wrong
    });
    m_mine.cores = cores;
    m_mine.compute_cores = std::min(compute_cores(m_compute), cores);
    m_all = gathered_machines(m_mine, m_comm);
    m_seconds = seconds_since(begin);
  }

  void keep() const {
    std::vector<Machine> compute, network, drive;
    for (Machine const& machine : m_all) {
      compute.push_back(only(machine, m_rates));
      compute.back().op_s = machine.op_s;
      network.push_back(only(machine, m_network_rates));
      drive.push_back(only(machine, m_drive_rates));
    }
    if (rates_are_new() || count_known(m_mine.op_s) > 0) m_file.store(compute);
    if (network_is_new()) m_network_file.store(network);
    bool const measured = std::ranges::all_of(
        drive, [&](Machine const& machine) { return knows(machine, m_drive_rates); });
    if (measured) m_drive_file->store(drive);
  }

  // Returns text such as "74 ops known from ...; measured the network and the drive in 2.1 s".
  std::string account() const {
    auto const known = m_known.op_s.empty()
                           ? ""
                           : fmt::format("{} known from {}; ",
                                         count(std::ssize(m_known.op_s), "op"), m_file.path());
    std::vector<std::string> measured;
    if (auto const ops = count_known(m_mine.op_s)) measured.push_back(count(ops, "op"));
    if (network_is_new()) measured.emplace_back("the network");
    if (drive_is_new()) measured.emplace_back("the drive");
    if (measured.empty()) return known + "measured 0";
    return fmt::format("{}measured {} in {:.1f} s", known, fmt::join(measured, " and "), m_seconds);
  }

  Machine machine() const {
    auto machine = m_known;
    learn(machine, slowest(m_all));
    auto const seconds = std::exchange(machine.op_s, {});
    set_op_times(machine, m_program, seconds, m_trials);
    return machine;
  }

 private:
  void time_all_ops(Machine const& rates, std::int64_t memory_bytes) {
    std::optional<WorkProgress> progress;
    auto const tell = [&](std::int64_t done, std::int64_t total) {
      if (!progress) progress.emplace(Work{"profile", "measurements", total}, m_comm.rank() == 0);
      progress->at(done);
    };
    m_mine.op_s =
        time_ops(m_program, m_known.op_s, rates, m_compute, {memory_bytes}, m_trials, tell);
  }
  bool rates_are_new() const { return !knows(m_known, m_rates); }
  bool network_is_new() const { return !knows(m_known, m_network_rates); }
  bool drive_is_new() const { return m_drive_file && !knows(m_known, m_drive_rates); }

  Config const& m_config;
  Program const& m_program;
  Compute const& m_compute;
  HostTrials const& m_trials;
  Comm& m_comm;
  // The copies to a device and the drive share main memory, so they are measured together.
  bool m_links_beside_drive;
  Rates m_rates, m_drive_rates, m_network_rates;
  SharedProfile m_file, m_network_file;
  std::optional<SharedProfile> m_drive_file;
  Machine m_known, m_mine;     // m_known: of all ranks; m_mine: measured now on this rank
  std::vector<Machine> m_all;  // what was measured now, by rank
  double m_seconds = 0;
};

// Enters what the device says of itself. Returns how much memory measurements may take, at most
// half of this rank's part of what is free on the device.
std::int64_t describe_device(Machine& machine, Compute const& compute, std::int64_t most_bytes) {
  machine.target = compute.kernels.target;
  if (!compute.device.has_own_memory()) return most_bytes;
  auto const properties = compute.device.properties();
  machine.device_bytes = properties.memory_bytes;
  if (auto const* const sheet = data_sheet_of(properties.name)) {
    machine.peak_gflops_bf16 = sheet->bf16_gflops;
    machine.peak_gflops_f32 = sheet->fp32_gflops;
  }
  return std::min(most_bytes, properties.free_bytes / (2 * compute.sharers));
}

// Throws if a plan for `machine` could not run here, because memory or the kernels' workspaces
// differ.
void require_fit(Machine const& machine, std::string const& file, Compute const& compute) {
  auto const refuse = [&](std::string const& what) {
    throw Error(Status::bad_input, fmt::format("{}: {}", file, what));
  };
  if (machine.is_unified() == compute.device.has_own_memory())
    refuse(machine.is_unified() ? "memory.device: has none, but this run computes on a GPU"
                                : "memory.device: is a GPU's, but this run computes on the cores");
  if (machine.target != compute.kernels.target)
    refuse(fmt::format("target: {}, but this run's kernels are for {}", machine.target,
                       compute.kernels.target));
}

}  // namespace

Machine measured_machine(Config const& config, std::int64_t vocab, Choices const& choices,
                         RunCores const& cores, std::int64_t memory_bytes, Compute const& compute,
                         Comm& comm, ProfileCache const& cache) {
  Program program;
  Machine about;
  About key;
  on_all_ranks(comm, [&] {
    program = training_ops(config, vocab, choices, comm.size(), compute.kernels.target);
    program.arithmetic.products =
        compute.product_choices({program.tensors, program.chunks, program.arithmetic}, program.ops);
    memory_bytes = describe_device(about, compute, memory_bytes);
    if (config.memory.has_nvme_here())
      about.nvme_drives = count_drives(config.memory.nvme_paths_here());
    key = profile_key(config, choices, cores.mine, comm.local_size(), compute);
  });
  if (comm.rank() == 0 && config.memory.has_nvme_here())
    for (auto const& line : drives_advice(config.memory.nvme_paths_here()))
      log_warning("memory.nvme.path: {}", line);
  auto const trials =
      host_trials(config.run.host_threads, cores.fewest, !compute.device.has_own_memory());
  Profiler profiler(config, program, compute, key, trials, cache, comm);
  profiler.measure(static_cast<double>(cores.mine), memory_bytes);
  profiler.keep();
  log_info("profile: {}", profiler.account());
  auto machine = profiler.machine();
  machine.node_ranks = std::ranges::max(gathered(comm, cores.node_ranks));
  machine.target = about.target;
  set_drives(machine, std::ranges::min(gathered(comm, about.nvme_drives)));
  machine.device_bytes = std::ranges::min(gathered(comm, about.device_bytes));
  // Unknown on one rank is unknown for all.
  for (auto const peak : {&Machine::peak_gflops_bf16, &Machine::peak_gflops_f32})
    machine.*peak = std::ranges::min(gathered(comm, about.*peak));
  return machine;
}

Machine planned_for(Config const& config, std::int64_t vocab, Choices const& choices,
                    RunCores const& cores, std::int64_t memory_bytes, Compute const& compute,
                    Comm& comm, ProfileCache const& cache) {
  auto const& file = config.debug.machine;
  if (file.empty())
    return measured_machine(config, vocab, choices, cores, memory_bytes, compute, comm, cache);
  Machine machine;
  on_all_ranks(comm, [&] {
    machine = load_machine(file);
    require_fit(machine, file, compute);
  });
  return with_host_threads(std::move(machine), config.run.host_threads);
}

}  // namespace spillway
