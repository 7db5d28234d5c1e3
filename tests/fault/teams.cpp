// OpenMP and the machine give fewer threads than a run asks for.
#include <fmt/format.h>

#include "fault_test.hpp"
#include "preload.hpp"

namespace spillway::test::teams_test {
namespace {

// Two threads, as in a run of a user with two cores; their products are cut for both.
class Teams : public FaultTest {
 protected:
  Outcome train_with(std::string const& environment, std::string const& overrides,
                     int ranks = kAlone) {
    return run_command(environment + " " + train_command(overrides, ranks));
  }
  Outcome spillway_with(std::string const& environment, std::string const& arguments) {
    return run_command(environment + " " + spillway_command(kAlone) + " " + arguments);
  }
  std::string run_named(std::string const& name, int threads) const {
    return fmt::format("run.threads={} run.dir={}", threads, path(name));
  }

  std::string const m_auto = "run.threads=auto run.dir=" + path("auto");
};

TEST_F(Teams, are_whole_on_a_busy_machine_whatever_OpenMP_would_choose) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  ASSERT_EQ(train_with("", run_named("whole", 2)).status, 0);
  for (auto const* load : {"0.9", "30"}) {
    SCOPED_TRACE(load);
    std::filesystem::remove_all(m_dir / "busy");
    auto const busy = train_with("OMP_DYNAMIC=true " + crowded(load), run_named("busy", 2));
    ASSERT_EQ(busy.status, 0) << busy.output;
    EXPECT_EQ(bits("busy"), bits("whole"));
  }
}

TEST_F(Teams, that_a_limit_makes_smaller_are_refused_by_its_name) {
  struct Limit {
    std::string setting, name;
  };
  for (auto const& [setting, name] : {Limit{"OMP_THREAD_LIMIT=1", "OMP_THREAD_LIMIT allows 1"},
                                      Limit{"OMP_MAX_ACTIVE_LEVELS=0", "OMP_MAX_ACTIVE_LEVELS"}}) {
    SCOPED_TRACE(setting);
    for (int const ranks : {kAlone, kTwoRanks})
      EXPECT_TRUE(fails_with(2, name, train_with(setting, run_named("run", 2), ranks)));
    EXPECT_TRUE(
        fails_with(2, name, spillway_with(setting, "plan " + path("job.yaml") + " run.threads=2")));
    EXPECT_TRUE(fails_with(
        2, name, spillway_with(setting, "profile -o m.yaml " + path("job.yaml run.threads=2"))));
    EXPECT_TRUE(fails_with(
        2, name, spillway_with(setting, "rok -o r.csv " + path("job.yaml run.threads=2"))));
  }
}

// What `auto` takes, and what is then computed, are those of as many threads.
TEST_F(Teams, keep_to_a_limit_where_threads_are_auto) {
  ASSERT_EQ(train_with("", run_named("one", 1)).status, 0);
  auto const limited = train_with("OMP_THREAD_LIMIT=1", m_auto);
  ASSERT_EQ(limited.status, 0) << limited.output;
  EXPECT_EQ(bits("auto"), bits("one"));

  write_token_file(m_dir / "valid.h5", 1000);
  auto const eval =
      fmt::format("eval {} data.valid={} --checkpoint {} run.threads=", path("job.yaml"),
                  path("valid.h5"), path("one/step-4"));
  auto const loss = [&](std::string const& environment, std::string const& threads) {
    auto const outcome = spillway_with(environment, eval + threads);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return outcome.output.substr(outcome.output.rfind("loss "));  // progress tells times
  };
  EXPECT_EQ(loss("OMP_THREAD_LIMIT=1", "auto"), loss("", "1"));
  EXPECT_TRUE(fails_with(2, "OMP_THREAD_LIMIT", spillway_with("OMP_THREAD_LIMIT=1", eval + "2")));

  auto const generate =
      fmt::format("generate --checkpoint {} --prompt-ids 1,2,3 --tokens 8", path("one/step-4"));
  auto const told = spillway_with("OMP_THREAD_LIMIT=1", generate);
  EXPECT_EQ(told.status, 0) << told.output;
  EXPECT_EQ(told.output, spillway_with("", generate).output);
}

// The checkpoint's number is more than is allowed now: the run goes on with fewer, and says so.
TEST_F(Teams, of_a_checkpoint_become_smaller_with_a_word) {
  ASSERT_EQ(train_with("", run_named("run", 2)).status, 0);
  auto const resumed = train_with("OMP_THREAD_LIMIT=1", "run.threads=auto run.steps=6");
  EXPECT_EQ(resumed.status, 0) << resumed.output;
  EXPECT_NE(resumed.output.find("threads: 2 -> 1"), std::string::npos) << resumed.output;
}

TEST_F(Teams, that_cannot_be_started_are_refused_and_not_ended_by_OpenMP) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  auto const none_left = train_with(crowded("0", 40), run_named("run", 500));
  EXPECT_TRUE(fails_with(2, "of 500 threads can be started", none_left));
  auto const on_host = run_named("run", 2) +
                       " memory.host=64MiB plan.gradients=host plan.optimizer=host "
                       "plan.update=host run.host_threads=500";
  EXPECT_TRUE(fails_with(2, "run.host_threads: only ", train_with(crowded("0", 40), on_host)));
  EXPECT_TRUE(fails_with(2, "Kokkos allows 512", train_with("", run_named("run", 600))));
}

// Each command has a thread that takes signals, before MPI starts any.
TEST_F(Teams, of_which_not_even_the_first_can_be_started_are_refused) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  std::string const why = "spillway: the system starts no more threads: ";
  EXPECT_TRUE(fails_with(2, why, train_with(crowded("0", 0), run_named("run", 2))));
  EXPECT_TRUE(fails_with(2, why, spillway_with(crowded("0", 0), "plan " + path("job.yaml"))));
}

TEST_F(Teams, do_not_fail_on_what_Kokkos_is_told) {
  EXPECT_EQ(train_with("KOKKOS_NUM_THREADS=many", run_named("run", 2)).status, 0);
}

// OpenMP binds the first thread to the first place, whose cores are not all that there are.
TEST_F(Teams, of_threads_that_OpenMP_binds_have_all_cores) {
  auto const cores = [&](std::string const& environment) {
    auto const outcome = spillway_with(environment, "doctor " + path("nvme"));
    auto const at = outcome.output.find("\ncores ");
    return outcome.output.substr(at, outcome.output.find('\n', at + 1) - at);
  };
  EXPECT_EQ(cores("OMP_PROC_BIND=true"), cores("OMP_PROC_BIND=false"));
  for (auto const* places : {"cores", "sockets", "threads"})
    EXPECT_EQ(cores(fmt::format("OMP_PROC_BIND=spread OMP_PLACES={}", places)),
              cores("OMP_PROC_BIND=false"));
  auto const limited = spillway_with("OMP_THREAD_LIMIT=1", "doctor " + path("nvme"));
  EXPECT_NE(limited.output.find("OMP_THREAD_LIMIT allows no more"), std::string::npos)
      << limited.output;
}

}  // namespace
}  // namespace spillway::test::teams_test
