// Measures the machine in about two seconds, well enough for mfu and a rough simulation. The
// numbers are what this process gets now, beside everything else that runs.
#pragma once

#include <cstdint>
#include <filesystem>

#include "graph/arithmetic.hpp"
#include "plan/data/machine.hpp"
#include "profile/storage_bench.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Returns the rates of matrix products in the run's precision, of memory traffic and of copies. The
// first two use the run's own kernels, with all threads or on the device. Copies are those of the
// link to a device with memory of its own: what either direction gets while both are busy. On a
// host it takes 48 MiB meanwhile, else up to 768 MiB of the device.
Machine probe_machine(Compute const& compute, Arithmetic const& arithmetic);

// Adds the rates of the spill path and its cost in core time, in under two seconds. Measures the
// page cache if direct I/O is not available. Rates stay 0 (unknown) if there is no room to measure.
// Takes 64 MiB meanwhile. Throws Error when the directory cannot be used, and Error(cannot_fit)
// when there is no such memory. If the device has memory of its own, it also lowers the rates of
// its link to what this gets while the drive is busy.
void probe_storage(Machine& machine, std::filesystem::path const& directory, bool checksums,
                   Device& device);

// Enters the rates of streams that have only written, only read, and done both at once.
void set_drive_rates(Machine& machine, StorageBench::Moved const& written,
                     StorageBench::Moved const& read, StorageBench::Moved const& both);

// Returns the size of the file that `probe_storage` makes where so many bytes are free: a GiB, and
// never more than half of them.
std::int64_t storage_probe_bytes(std::int64_t free_bytes);

}  // namespace spillway
