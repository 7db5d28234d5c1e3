// A quick look at the machine: good enough for mfu and a rough simulation, in about two seconds.
// Numbers are what this process gets now, beside whatever else runs.
#pragma once

#include <filesystem>

#include "graph/arithmetic.hpp"
#include "plan/data/machine.hpp"

namespace spillway {

class Exec;

// Rates of matrix products in the run's precision and of memory traffic, both on all threads of
// `exec` and through the run's own kernels, and of copies. Takes 48 MiB while it measures.
Machine probe_machine(Exec const& exec, Arithmetic const& arithmetic);

// Adds the spill path's rates and what it costs cores, in under two seconds; where direct I/O is
// not to be had the page cache answers. Rates stay unknown (0) where there is no room to measure.
// Takes 64 MiB while it measures. Throws Error when the directory cannot be used.
void probe_storage(Machine& machine, std::filesystem::path const& directory, bool checksums);

}  // namespace spillway
