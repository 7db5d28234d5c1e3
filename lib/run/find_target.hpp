// Finds what a run is planned for, from a Config. For this machine, make a ComputeHere and call
// common_budgets and target_here; for another machine, call target_of_file. Then plan_run makes the
// plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "plan/data/budgets.hpp"
#include "profile/profile_cache.hpp"
#include "run/compute_here.hpp"
#include "run/target.hpp"

namespace spillway {

// All ranks must call this. Returns for each tier the smallest budget of any rank, because all
// ranks make the same plan. Warns if a drive has less free than was asked for. Throws
// AgreedError(bad_input) if the Config asks for more memory than exists.
Budgets common_budgets(Config const& config, ComputeHere const& here, Comm& comm);

// All ranks must call this. The machine is the one that debug.machine names, or this one, measured
// by planned_for. If no size of micro-batches was asked for, chooses the fastest one and measures
// its ops. Throws AgreedError.
Target target_here(Config const& config, std::int64_t vocab, ComputeHere const& here,
                   Budgets const& budgets, Comm& comm, ProfileCache const& cache = ProfileCache());

// Machine files describe nodes with all their ranks. Returns what each of `ranks` ranks gets on
// such nodes, with `host_threads` threads of the host lane if it has a value (see
// with_host_threads).
Machine machine_of_a_rank(Machine const& described, std::int64_t ranks,
                          std::optional<std::int64_t> host_threads);

// Returns the target of `ranks` ranks on nodes that a machine file describes. Throws
// Error(bad_input) if the file lacks rates that planning needs, or if the Config asks for more
// memory than it has. Warns if the drives have less than was asked for.
Target target_of_file(Config const& config, std::int64_t vocab, std::string const& file,
                      std::int64_t ranks);

}  // namespace spillway
