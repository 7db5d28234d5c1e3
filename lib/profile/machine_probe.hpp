// Measures the machine in about two seconds, well enough for mfu and a rough simulation. The
// numbers are what this process gets now, beside everything else that runs.
#pragma once

#include <filesystem>

#include "graph/arithmetic.hpp"
#include "plan/data/machine.hpp"

namespace spillway {

class Exec;

// Returns the rates of matrix products in the run's precision, of memory traffic and of copies. The
// first two use all threads of `exec` and the run's own kernels. Takes 48 MiB meanwhile.
Machine probe_machine(Exec const& exec, Arithmetic const& arithmetic);

// Adds the rates of the spill path and its cost in core time, in under two seconds. Measures the
// page cache if direct I/O is not available. Rates stay 0 (unknown) if there is no room to measure.
// Takes 64 MiB meanwhile. Throws Error when the directory cannot be used.
void probe_storage(Machine& machine, std::filesystem::path const& directory, bool checksums);

}  // namespace spillway
