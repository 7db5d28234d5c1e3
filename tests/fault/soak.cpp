// One run that is killed and made to fail at random, again and again: it goes on from what that
// left, and in the end its weights are those of a run that was never disturbed.
#include <fmt/format.h>

#include <iostream>
#include <random>

#include "crash_test.hpp"
#include "tests/parity/experiment.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::soak_test {
namespace {

int disturbances() {
  return takes_all() ? 200 : 6;
}

class Soak : public FastDriveTest {
 protected:
  std::string endless(std::string const& overrides) const {
    return with("run.checkpoint.keep=2 run.steps=1000000 " + overrides);
  }

  std::int64_t draw(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(m_draws);
  }

  // A start that does not come to an end of its own: ended by a signal to it after up to `most_s`,
  // unless `fault` has done that before.
  Outcome start(std::string const& overrides, std::string const& signal, double most_s,
                Planted const* fault, int ranks) {
    auto const seconds = static_cast<double>(draw(0, 1000)) * 1e-3 * most_s;
    auto const planting = fault == nullptr ? "" : planted(*fault);
    return run_command(fmt::format("timeout --preserve-status -k 20 -s {} {:.3f} env {} {}", signal,
                                   seconds, planting, train_command(endless(overrides), ranks)));
  }

  Planted at_a_call(std::string const& calls, std::string const& where, std::string const& what,
                    std::int64_t most, int ranks) {
    return {.calls = calls,
            .path = where,
            .what = what,
            .at = std::to_string(draw(1, most)),
            .rank = ranks == kAlone ? "" : std::to_string(draw(0, ranks - 1)),
            .stride = 12};
  }

  // While it trains, starts or saves; with calls that fail; with storage that fails; while it plans
  // again and moves. Signals to a launcher are those that it passes on.
  Outcome disturb(int ranks) {
    auto const last = ranks == kAlone ? "KILL" : "USR1";
    auto const* const changes = "write,pwrite,fsync,rename,mkdir,unlink,rmdir";
    switch (draw(0, 5)) {
      case 0:
        return start("", last, 1.5, nullptr, ranks);
      case 1:
        return start("", ranks == kAlone ? "TERM" : "USR1", 1.5, nullptr, ranks);
      case 2: {
        auto const fault = at_a_call(changes, path("run"), "kill", 150, ranks);
        return start("", last, 4, &fault, ranks);
      }
      case 3: {
        auto fault =
            at_a_call(changes, path("run"), draw(0, 1) == 0 ? "ENOSPC" : "EIO", 150, ranks);
        if (draw(0, 1) == 0) fault.at += "-";
        return start("", last, 3, &fault, ranks);
      }
      case 4:
        return start(fmt::format("debug.fault=storage-random:{}", draw(1, 1'000'000)), last, 2,
                     nullptr, ranks);
      default: {
        auto fault = at_a_call("pread,pwrite", path("nvme"), "kill", 20, ranks);
        fault.after = ranks == kAlone ? "new plan from step" : "";
        return start("debug.fault=drive-told-slow:1", last, 6, &fault, ranks);
      }
    }
  }

  void expect_no_trace(int ranks) {
    auto const steps = fmt::format("run.checkpoint.keep=2 run.steps={}", committed_step() + 3);
    auto const last = train(with(steps), ranks);
    EXPECT_EQ(last.status, 0) << last.output;
    auto const whole = run_command(train_command(with(steps + " run.dir=" + path("whole")), ranks));
    ASSERT_EQ(whole.status, 0) << whole.output;
    expect_equal_state(m_dir / "whole", m_dir / "run");
    auto const expected = bits("whole");
    for (auto const& [step, found] : bits("run")) {
      if (!expected.contains(step)) continue;  // a start that was killed has come farther
      EXPECT_EQ(found, expected.at(step)) << step;
    }
  }

  void soak(int ranks) {
    std::map<int, int> endings;  // how often, by status
    for (int i = 0; i < disturbances() / 2; ++i) {
      SCOPED_TRACE(fmt::format("disturbance {}", i + 1));
      auto const outcome = disturb(ranks);
      ++endings[outcome.status];
      EXPECT_EQ(outcome.output.find("internal"), std::string::npos) << outcome.output;
      expect_sound_checkpoints();
      ASSERT_FALSE(HasFailure());
    }
    std::cout << fmt::format("{} ranks, step {}; how starts ended:", ranks, committed_step());
    for (auto const& [status, times] : endings) std::cout << fmt::format(" {} x {}", times, status);
    std::cout << std::endl;
    expect_no_trace(ranks);
  }

  std::mt19937 m_draws{20261123};
};

TEST_F(Soak, of_a_process_leaves_no_trace_in_the_weights) {
  soak(kAlone);
}

TEST_F(Soak, of_two_ranks_leaves_no_trace_in_the_weights) {
  soak(kTwoRanks);
}

}  // namespace
}  // namespace spillway::test::soak_test
