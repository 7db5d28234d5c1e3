#include <fmt/format.h>

#include "app/commands.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"
#include "config/load.hpp"
#include "io/file/file.hpp"
#include "kernels/exec.hpp"
#include "kernels/scope.hpp"
#include "plan/machine_file.hpp"
#include "runtime/process_memory.hpp"
#include "train/cores.hpp"
#include "train/data.hpp"
#include "train/measured_machine.hpp"

namespace spillway {

Status run_profile(ProfileArguments const& arguments, Comm& comm) {
  Config config;
  std::int64_t vocab = 0;
  on_all_ranks(comm, [&] {
    config = load_config(arguments.input, arguments.overrides);
    vocab = open_data(config).vocab;
  });
  auto const cores = own_cores(gathered(comm, core_share()), comm.rank());
  auto const choices = choose(config, nullptr, cores, comm.size());
  KernelScope const kernels(static_cast<int>(choices.threads));
  Exec const exec;
  auto const memory_bytes = available_memory_bytes() / (2 * comm.local_size());
  auto machine = measured_machine(config, vocab, choices, cores, memory_bytes, exec, comm);
  on_all_ranks(comm, [&] {
    if (comm.rank() != 0) return;
    machine.node_ranks = comm.local_size();
    machine.host_bytes = available_memory_bytes();
    if (!config.memory.nvme_path.empty()) machine.nvme_bytes = free_bytes(config.memory.nvme_path);
    replace_text(arguments.output, to_yaml(machine));
    fmt::print("{}: {} ops, {:.0f} GFLOP/s in bf16, {:.0f} in fp32, {:.1f} GB/s of memory\n",
               arguments.output, machine.op_s.size(), machine.matmul_gflops_bf16,
               machine.matmul_gflops_f32, machine.memory_gbps);
  });
  return Status::done;
}

}  // namespace spillway
