// An event of a device lane is recorded again only when nobody can be about to wait for its earlier
// record. The stand-in complains in every run, whatever came first.
#include "plan/data/program.hpp"
#include "runtime/engine.hpp"
#include "tests/support/cuda/next_run.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made_run.hpp"

namespace spillway::test::cuda_events_test {
namespace {

constexpr std::int64_t kBytes = 64;

Launch bind_nothing(KernelContext const&, Op const&) {
  return [](Exec const&, void* const*) {};
}
Kernel no_work(OpKind) {
  return {bind_nothing, bind_nothing};
}

// A copy waits for computing of the step before, which nothing holds back: while the copy of one
// step is still to be launched, computing may be one step further, and then it records an event.
Program copy_behind_the_step_before() {
  HandMadeRun made;
  made.program.unified = false;
  made.segment("last");
  auto const from = made.buffer(Tier::device, kBytes), to = made.buffer(Tier::host, kBytes);
  auto const other = made.buffer(Tier::device, kBytes);
  for (auto const id : {from, to, other}) made.at_buffer(id).persistent = true;
  made.copy(Lane::d2h, from, to);
  made.op(Lane::compute, {}, {other});
  made.complete();
  made.program.items.front().waits.push_back(made.program.items.back().number);
  return made.program;
}

TEST(StandInEvents, are_recorded_again_when_nobody_may_still_wait_for_them) {
  auto const program = copy_behind_the_step_before();
  cuda::ask_of_next_run({.settings = cuda::Settings{.laziness = cuda::Laziness::latest}});
  DeviceUnderTest device(program.unified);
  {
    auto const comm = make_single_rank_comm();
    NoBatches batches;
    Tiers tiers(device.device(), program.peak_bytes, nullptr);
    Engine engine({program,
                   tiers,
                   KernelTable(no_work),
                   *comm,
                   batches,
                   {},
                   nullptr,
                   1,
                   device.make_watch()});
    for (int step = 0; step < 7; ++step) engine.run_step(step);
    engine.finish();
  }
  device.expect_sound();
}

}  // namespace
}  // namespace spillway::test::cuda_events_test
