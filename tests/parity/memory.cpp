// The promise about the whole process, held against what the kernel counted: VmHWM. What measuring
// the machine takes is a part of it. So is the memory of the stand-in for a GPU, which is main
// memory that lies outside the plan of main memory.
#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::memory_test {
namespace {

constexpr double kMib = 1 << 20;

// The stand-in remembers accesses: a byte for each of its memory, which counts as outside, and one
// for each of the host's memory that transfers have reached.
std::int64_t promised_bytes(Run const& run) {
  auto const host = run.peak_bytes("predicted_peak_bytes", "host");
  auto const device_or_remembered =
      on_stand_in() ? host : run.peak_bytes("predicted_peak_bytes", "device");
  return device_or_remembered + host + run.summary.at("outside_bytes").get<std::int64_t>();
}

std::int64_t resident_bytes(Run const& run) {
  return run.summary.at("peak_rss_bytes").get<std::int64_t>();
}

void expect_promise_kept(Run const& run) {
  auto const promised = static_cast<double>(promised_bytes(run));
  EXPECT_NEAR(static_cast<double>(resident_bytes(run)), promised, 0.05 * promised) << run.dir;
  expect_measured_as_planned(run);
}

// A few hundred MiB, most of them activations.
Keys const kMiddleSized = {"model.layers=4",    "model.hidden=256",  "model.heads=4",
                           "data.sequence=256", "batch.micro=16",    "batch.sequences=16",
                           "run.steps=2",       "run.eval.every=0",  "run.checkpoint.every=1",
                           "debug.poison=true", "debug.machine=none"};

// Spilling makes the process smaller by what the plan says.
TEST(Memory, of_the_process_is_what_was_promised_before_step_0) {
  Experiment const experiment("memory", 0, kMiddleSized);
  auto const keep = experiment.run("keep", {"plan.activations=keep"});
  auto const recompute = experiment.run("recompute", {"plan.activations=recompute"});
  auto const nvme = experiment.run("nvme", {"plan.activations=nvme"});
  for (auto const& run : {keep, recompute, nvme}) expect_promise_kept(run);
  if (on_stand_in()) return;  // where the drive's rings take what activations leave
  auto const planned = keep.peak_bytes("predicted_peak_bytes", "device") -
                       nvme.peak_bytes("predicted_peak_bytes", "device");
  EXPECT_GT(planned, 50 * kMib);
  EXPECT_NEAR(static_cast<double>(resident_bytes(keep) - resident_bytes(nvme)),
              static_cast<double>(planned), 4 * kMib);
}

TEST(MemoryOfRanks, is_what_was_promised_for_each) {
  Keys const keys = {"batch.sequences=32", "plan.update=host", "plan.activations=nvme"};
  expect_promise_kept(Experiment("memory_2_ranks", 2, kMiddleSized + keys).run("run"));
}

// Steps beyond the first few bring no new pages: what grows with time would show here.
TEST(ResidentMemory, does_not_grow_with_steps) {
  if (on_stand_in()) GTEST_SKIP() << "the stand-in remembers accesses";
  Experiment const experiment(
      "memory_growth", 0,
      {"model.layers=2", "data.sequence=32", "batch.sequences=2", "batch.micro=1",
       "plan.activations=nvme", "plan.prefetch=0", "run.eval.every=10", "run.checkpoint.every=20",
       "debug.machine=none"});
  auto const few = experiment.run("few", {"run.steps=20"});
  auto const many = experiment.run("many", {"run.steps=200"});
  EXPECT_LT(resident_bytes(many) - resident_bytes(few), 1 * kMib);
}

}  // namespace
}  // namespace spillway::test::memory_test
