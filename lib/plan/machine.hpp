// Numbers of one machine. Measured (lib/profile) or read from a file; never constants in the
// solver.
#pragma once

namespace spillway {

struct Machine {
  double matmul_gflops_bf16 = 0, matmul_gflops_f32 = 0;
  double memory_gbps = 0;  // DRAM or device memory, all cores
  double nvme_write_gbps = 0, nvme_read_gbps = 0;
  double network_gbps = 0;  // between two ranks
  double item_overhead_s = 0;
};

}  // namespace spillway
