#include <fmt/core.h>

#include <optional>

#include "app/commands.hpp"
#include "app/compute.hpp"
#include "app/output_kinds.hpp"
#include "base/process_memory.hpp"
#include "comm/on_all_ranks.hpp"
#include "config/load.hpp"
#include "huggingface/import_model.hpp"
#include "io/file/file.hpp"
#include "job/cores.hpp"
#include "plan/data/machine_file.hpp"
#include "run/measured_machine.hpp"
#include "run/profile_key.hpp"
#include "run/run_memory.hpp"
#include "samples/data.hpp"
#include "state/same_start.hpp"

namespace spillway {

Status run_profile(ProfileArguments const& arguments, Comm& comm) {
  Config config;
  std::int64_t vocab = 0;
  std::optional<Output> output;  // on rank 0 only
  on_all_ranks(comm, [&] {
    config = load_config(arguments.input, arguments.overrides, where_it_computes, import_model);
    if (comm.rank() == 0)
      output.emplace(
          arguments.output,
          OutputRule{kMachineOutput, files_read(arguments.input, config), arguments.force});
    vocab = open_data(config).vocab;
    require_spill_directory(config.memory);
  });
  comm.set_patience(config.run.peer_timeout_s);
  require_same_config(comm, config);
  // Chooses what a run would choose before its first step.
  auto const cores = run_cores(comm);
  Choices choices;
  on_all_ranks(comm,
               [&] { choices = choose(config, nullptr, cores.fewest, comm.size(), cores.limit); });
  if (choices.threads <= cores.mine) stay_on(cores.part);
  ComputeHere const compute(config.run.device, choices.threads, comm);
  auto const memory_bytes = available_memory_bytes() / (2 * comm.local_size());
  ProfileCache const cache(user_profile_cache(), ProfileCache::Use::refresh);
  auto machine =
      measured_machine(config, vocab, choices, cores.mine, memory_bytes, *compute, comm, cache);
  on_all_ranks(comm, [&] {
    if (comm.rank() != 0) return;
    machine.node_ranks = comm.local_size();
    machine.host_bytes = available_memory_bytes();
    auto about = profile_key(config, choices, cores.mine, comm.local_size(), *compute);
    if (auto const drive = config.memory.nvme_path_here(); !drive.empty()) {
      machine.nvme_bytes = free_bytes(drive);
      about = drive_key(about, config);
    }
    write_output(*output, to_yaml(machine, dated(about)));
    tell_written(
        *output,
        fmt::format("{}: {} ops, {:.0f} GFLOP/s in bf16, {:.0f} in fp32, {:.1f} GB/s of memory\n",
                    arguments.output, machine.op_s.size(), machine.matmul_gflops_bf16,
                    machine.matmul_gflops_f32, machine.memory_gbps));
  });
  return Status::done;
}

}  // namespace spillway
