#include "run/planned_memory.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::planned_memory_test {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

class PlannedMemories : public ::testing::Test {
 protected:
  // Takes the memory of a plan where so much was free, and gives its size.
  std::int64_t take(std::int64_t available_bytes) {
    auto config = tiny_config();
    config.batch.sequences = 2;
    Machine const machine{
        .matmul_gflops_bf16 = 100, .matmul_gflops_f32 = 100, .memory_gbps = 10, .host_bytes = kGib};
    Target const target{machine, {kGib, 0, 0}, {1, 2}};
    PlannedMemory planned({config, kTinyVocab, target, m_compute, available_bytes}, *m_comm);
    return planned.run().programs.train.peak_bytes[Tier::device];
  }
  bool warned() {
    return m_log.taken().find("of main memory on this node, of which") != std::string::npos;
  }

  Compute m_compute{host_device(), host::kernels()};
  CapturedLog m_log;
  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
};

// Afterwards less is free, by what the run itself has taken.
TEST_F(PlannedMemories, are_held_against_what_was_free_before_they_were_taken) {
  auto const bytes = take(kGib);
  EXPECT_FALSE(warned());
  take(bytes);
  EXPECT_FALSE(warned());
  take(bytes - 1);
  EXPECT_TRUE(warned());
}

// Addresses for what a later plan may take, where there may be one.
TEST_F(PlannedMemories, may_grow_to_the_budgets_of_a_run_that_may_plan_again) {
  for (bool const replan : {true, false}) {
    auto config = tiny_config();
    config.batch.sequences = 2;
    config.plan.replan = replan;
    Machine const machine{
        .matmul_gflops_bf16 = 100, .matmul_gflops_f32 = 100, .memory_gbps = 10, .host_bytes = kGib};
    Target const target{machine, {kGib, kGib / 4, 0}, {1, 2}};
    PlannedMemory planned({config, kTinyVocab, target, m_compute, kGib}, *m_comm);
    auto const room = planned.memory().room();
    if (replan) {
      EXPECT_EQ(room.device_bytes, kGib);
      EXPECT_EQ(room.host_bytes, kGib / 4);
    } else {
      EXPECT_LT(room.device_bytes, kGib / 2);
      EXPECT_LT(room.host_bytes, kGib / 8);
    }
  }
}

}  // namespace
}  // namespace spillway::test::planned_memory_test
