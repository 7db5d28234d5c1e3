// These are Machines for tests of plans. On the first two, the work of a step takes the compute
// lane, the host lane and a drive of about 1 GB/s times of the same order of magnitude.
#pragma once

#include "plan/data/machine.hpp"

namespace spillway::test {

inline Machine small_machine() {
  return {.matmul_gflops_bf16 = 100,
          .matmul_gflops_f32 = 50,
          .memory_gbps = 20,
          .cores = 2,
          .compute_cores = 2};
}

inline Machine small_machine_with_drive(double gbps) {
  auto machine = small_machine();
  machine.nvme_write_gbps = machine.nvme_read_gbps = gbps;
  return machine;
}

// On this machine, it takes longer to copy bytes to the device and back than to compute.
inline Machine machine_with_slow_links() {
  return {.matmul_gflops_bf16 = 350,
          .matmul_gflops_f32 = 200,
          .memory_gbps = 20,
          .nvme_write_gbps = 0.3,
          .nvme_read_gbps = 0.2,
          .nvme_both_gbps = 0.3,
          .h2d_gbps = 1,
          .d2h_gbps = 1,
          .cores = 2,
          .compute_cores = 2};
}

}  // namespace spillway::test
