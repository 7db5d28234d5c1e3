// Makes the head of a page: what a run was, how far it came, and what it took.
#pragma once

#include "report/page/run_files.hpp"

namespace spillway {

// Returns an object with the figures of the run that are known. summary.json says of the last job
// what rows do not, and is believed where both speak.
PageJson figures(RunFiles const& run);

}  // namespace spillway
