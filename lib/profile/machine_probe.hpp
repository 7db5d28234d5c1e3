// Measures the machine in about two seconds, well enough for a model FLOP utilization and a rough
// simulation. The numbers are what this process gets now, beside everything else that runs.
#pragma once

#include <cstdint>

#include "graph/arithmetic.hpp"
#include "io/spill/directories.hpp"
#include "plan/data/machine.hpp"
#include "profile/storage_bench.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Returns the rates of matrix products in the run's precision, of memory traffic and of copies.
// Matrix products and memory traffic are those of the run's own kernels, with all threads or on the
// device. Copies are those of the link to a device with memory of its own, where a rate is what a
// direction gets while both directions are busy. This takes up to 768 MiB of such a device's
// memory, or 48 MiB on a host.
Machine probe_machine(Compute const& compute, Arithmetic const& arithmetic);

// Adds the rates of the spill file and its cost in core time, in less than two seconds. It measures
// the page cache if direct I/O is not available. Rates stay 0 (unknown) if there is no room on the
// drive. It takes 64 MiB of main memory meanwhile. Throws Error if a directory cannot be used,
// and Error(cannot_fit) if there is not enough main memory. If the device has memory of its own,
// also lowers the rates of its link to those that the link gets while the drive is busy.
void probe_storage(Machine& machine, Directories const& directories, bool checksums,
                   Device& device);

// Sets the drive's rates from streams that have only written, only read, and done both at once.
void set_drive_rates(Machine& machine, StorageBench::Moved const& written,
                     StorageBench::Moved const& read, StorageBench::Moved const& both);

// Enters that a machine has so many drives in place of one. They are taken to be alike, so that
// they last as much longer.
void set_drives(Machine& machine, std::int64_t drives);

// Returns the size of the file that `probe_storage` makes if `free_bytes` are free: a GiB, but
// never more than half of them.
std::int64_t storage_probe_bytes(std::int64_t free_bytes);

}  // namespace spillway
