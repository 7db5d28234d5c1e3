#include "run/find_target.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/count.hpp"
#include "base/log.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"
#include "plan/data/machine_file.hpp"
#include "run/budgets.hpp"
#include "run/existing_memory.hpp"
#include "run/faster_mlp.hpp"
#include "run/fastest_micro.hpp"
#include "run/measured_machine.hpp"

namespace spillway {
namespace {

bool nodes_alike(Comm& comm) {
  auto const on_node = comm.local_size();
  bool const alike = comm.node_leader() == comm.rank() / on_node * on_node;
  auto const [least, most] = std::ranges::minmax(gathered(comm, alike ? on_node : 0));
  return least == most && least > 0;
}

void say_smaller_drive(MemoryConfig const& memory, Budgets const& budgets) {
  auto const line = smaller_drive(memory, budgets.nvme_bytes);
  if (!line.empty()) log_warning("{}", line);
}

}  // namespace

Budgets common_budgets(Config const& config, ComputeHere const& here, Comm& comm) {
  Budgets own;
  on_all_ranks(comm,
               [&] { own = budgets(config, free_here(config, *here), here.cores().node_ranks); });
  if (comm.rank() == 0) say_smaller_drive(config.memory, own);
  return smallest(gathered(comm, own));
}

Target target_here(Config const& config, std::int64_t vocab, ComputeHere const& here,
                   Budgets const& budgets, Comm& comm, ProfileCache const& cache) {
  Target target{{}, budgets, here.choices(), here.cores().ranks, nodes_alike(comm)};
  auto const measure = [&] {
    target.machine = planned_for(config, vocab, target.choices, here.cores(),
                                 budgets.device_bytes / 2, *here, comm, cache);
  };
  // Sets a choice to what is best on all ranks. Its name and `unit` are for the message.
  auto const choose = [&](std::int64_t Choices::*choice, auto const& best, char const* key,
                          char const* unit) {
    auto chosen = target.choices.*choice;
    on_all_ranks(comm, [&] { chosen = best(config, vocab, target); });
    chosen = std::ranges::min(gathered(comm, chosen));
    auto const before = std::exchange(target.choices.*choice, chosen);
    if (chosen == before) return;
    log_info("{}: {} at a time, better here than {}", key, count(chosen, unit),
             before == 0 ? "all" : std::to_string(before));
    measure();
  };
  measure();
  if (target.choices.micro_is_free)
    choose(&Choices::micro, fastest_micro, "batch.micro", "sequence");
  if (target.choices.mlp_is_free)
    choose(&Choices::mlp_chunk, faster_mlp_chunk, "batch.mlp_chunk", "row");
  return target;
}

Machine machine_of_a_rank(Machine const& described, std::int64_t ranks,
                          std::optional<std::int64_t> host_threads) {
  return with_host_threads(shared_by(described, std::min(ranks, described.node_ranks)),
                           host_threads);
}

Target target_of_file(Config const& config, std::int64_t vocab, std::string const& file,
                      std::int64_t ranks) {
  Target target{load_machine(file), {}, {}, ranks};
  auto& machine = target.machine;
  auto const free = free_of(machine, file);
  machine = machine_of_a_rank(machine, ranks, config.run.host_threads);
  target.budgets = budgets(config, free, machine.node_ranks);
  say_smaller_drive(config.memory, target.budgets);
  require_rates(machine,
                {config.precision == Precision::bf16, target.budgets.nvme_bytes > 0, ranks}, file);
  auto const cores = std::max<std::int64_t>(1, std::llround(machine.compute_cores));
  target.choices = choose(config, nullptr, cores, ranks);
  if (target.choices.micro_is_free) target.choices.micro = fastest_micro(config, vocab, target);
  if (target.choices.mlp_is_free)
    target.choices.mlp_chunk = faster_mlp_chunk(config, vocab, target);
  return target;
}

}  // namespace spillway
