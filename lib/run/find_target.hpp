// The way from a Config to what a run is planned for: ComputeHere, common_budgets and target_here
// for this machine, or target_of_file for another one. What comes after it is plan_run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "plan/data/budgets.hpp"
#include "run/compute_here.hpp"
#include "run/target.hpp"

namespace spillway {

// Collective: what each rank may take: what the Config says, or else its share of what is free; of
// each tier the smallest of all ranks', since they must make the same plan. A drive with less than
// was asked for is said. Throws AgreedError, as budgets() does.
Budgets common_budgets(Config const& config, ComputeHere const& here, Comm& comm);

// Collective. The machine is the one that debug.machine names, or this one, measured (see
// planned_for). Where nobody asked for a micro-batch the fastest one is taken, and its ops are
// measured. Throws AgreedError.
Target target_here(Config const& config, std::int64_t vocab, ComputeHere const& here,
                   Budgets const& budgets, Comm& comm);

// What a machine file describes is for full nodes: returns what each of `ranks` ranks gets there,
// with as many threads of the host lane as asked for (see with_host_threads).
Machine machine_of_a_rank(Machine const& described, std::int64_t ranks,
                          std::optional<std::int64_t> host_threads);

// `ranks` on nodes like that of a machine file. Throws Error(bad_input) where the file does not say
// what planning needs, or where the Config asks for more than it has. A drive with less than was
// asked for is said.
Target target_of_file(Config const& config, std::int64_t vocab, std::string const& file,
                      std::int64_t ranks);

}  // namespace spillway
