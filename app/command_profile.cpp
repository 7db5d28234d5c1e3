#include <fmt/core.h>

#include <optional>
#include <string>

#include "app/commands.hpp"
#include "app/device_backend.hpp"
#include "app/devices.hpp"
#include "app/machine_text.hpp"
#include "app/output_kinds.hpp"
#include "base/log.hpp"
#include "base/process_memory.hpp"
#include "comm/on_all_ranks.hpp"
#include "config/load.hpp"
#include "huggingface/import_model.hpp"
#include "io/file/file.hpp"
#include "plan/data/machine_file.hpp"
#include "run/find_target.hpp"
#include "run/measured_machine.hpp"
#include "run/profile_key.hpp"
#include "run/run_memory.hpp"
#include "samples/data.hpp"
#include "state/same_start.hpp"

namespace spillway {

namespace {

// Returns the Config without its budgets, because what is measured must serve all budgets.
Config with_open_budgets(Config config) {
  config.memory.device_bytes.reset();
  config.memory.host_bytes.reset();
  return config;
}

}  // namespace

Status run_profile(ProfileArguments const& arguments, Comm& comm) {
  Config config;
  std::int64_t vocab = 0;
  std::optional<Output> output;  // present on rank 0 only
  on_all_ranks(comm, [&] {
    config = load_config(arguments.input, arguments.overrides, where_it_computes, import_model);
    config.batch.share.clear();  // the shares are those of a training run's ranks
    if (comm.rank() == 0)
      output.emplace(
          arguments.output,
          OutputRule{kMachineOutput, files_read(arguments.input, config), arguments.force});
    vocab = open_data(config).vocab;
    require_spill_directory(config.memory);
  });
  comm.set_patience(config.run.peer_timeout_s);
  require_same_config(comm, config);
  // If batch.micro is `auto`, ops are measured with the micro-batches that `choose` would take.
  ComputeHere const here(config, run_cores(comm), nullptr, device_backend(config), comm);
  log_info("computes on {}", here.where());
  auto const memory_bytes = common_budgets(with_open_budgets(config), here, comm).device_bytes / 2;
  ProfileCache const cache(user_profile_cache(), ProfileCache::Use::refresh);
  auto machine = measured_machine(config, vocab, here.choices(), here.cores(), memory_bytes, *here,
                                  comm, cache);
  on_all_ranks(comm, [&] {
    if (comm.rank() != 0) return;
    machine.host_bytes = available_memory_bytes();
    auto about = profile_key(config, here.choices(), here.cores().mine, comm.local_size(), *here);
    if (config.memory.has_nvme_here()) {
      machine.nvme_bytes = spill_room_bytes(config.memory.nvme_paths_here());
      about = drive_key(about, config);
    }
    write_output(*output, to_yaml(machine, dated(about)));
    tell_written(*output, fmt::format("{}: {}, {:.1f} GB/s of memory\n", arguments.output,
                                      product_rates(machine), machine.memory_gbps));
  });
  return Status::done;
}

}  // namespace spillway
