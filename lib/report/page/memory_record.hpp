// Says what lies in each tier over a planned step.
#pragma once

#include <cstddef>

#include "plan/data/budgets.hpp"
#include "plan/data/program.hpp"
#include "plan/time/simulate.hpp"
#include "report/page/page_json.hpp"

namespace spillway {

// Returns JSON with an entry for each tier that the Program uses: its peak and budget, how many
// bytes of each Content are in use from when on, at about `most` moments of the simulated step, and
// who holds how much at the peak. Time is that of the compute lane: what is in use counts for the
// item that this lane is at, as layout counts it.
PageJson memory_record(Program const& program, Simulation const& simulation, Budgets const& budgets,
                       std::size_t most);

}  // namespace spillway
