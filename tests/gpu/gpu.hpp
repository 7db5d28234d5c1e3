// Finds the GPUs on which the program under test computes. A program that includes this header
// skips all its tests where there is none.
#pragma once

#include <string>

#include "tests/parity/experiment.hpp"
#include "tests/support/run_tests.hpp"

namespace spillway::test {

// What `spillway doctor` says of the GPUs that it sees.
struct SeenGpus {
  int count = 0;
  std::string name, target;  // of the first one, such as "NVIDIA H100 80GB HBM3" and "sm_90"
  std::string why_none;      // empty if there is one
};
SeenGpus read_gpus(std::string const& doctor_text);
SeenGpus const& seen_gpus();  // asks the program once

// Returns "no device: " and the reason, or "" if there is a GPU.
std::string why_no_gpu();

// Returns keys for runs on GPUs: one for each rank if there are enough, else all ranks share one.
// Runs are planned for a machine with made-up rates, so that nothing is measured and plans are the
// same everywhere.
Keys on_gpu(int ranks);
Keys on_cores();  // returns keys for runs on the cores

namespace {
[[maybe_unused]] bool const skips_without_gpu = skip_all_tests_if(why_no_gpu);
}  // namespace

}  // namespace spillway::test
