// Test programs that run on several ranks call run_on_ranks() in their main function.
#pragma once

#include <gtest/gtest.h>

#include "comm/comm.hpp"
#include "comm/mpi_scope.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test {

// Runs all tests on every rank and returns on each the worst result of any rank. While tests run,
// `comm` points to the communicator of all ranks. Only rank 0 prints results.
inline int run_on_ranks(int argc, char** argv, Comm*& comm) {
  take_shard();
  testing::InitGoogleTest(&argc, argv);
  MpiScope const scope(argc, argv);
  auto const world = make_world_comm({.patience_s = 1800});
  comm = world.get();
  if (world->rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  return world->agree(run_chosen_tests());
}

}  // namespace spillway::test
