// Whatever call of CUDA fails in a run, and however: the run ends with an Error that says so, all
// threads end, and nothing is left behind.
#include <fmt/format.h>

#include <cstdlib>

#include "base/error.hpp"
#include "tests/parity/stand_in_run.hpp"
#include "tests/support/cuda/complaints.hpp"

namespace spillway::test::cuda_faults_test {
namespace {

using Kind = cuda::PlannedFault::Kind;
using Names = std::set<std::string>;

// These give something back; who ends is silent, and may have to leave it.
Names const kGivesBack = {"cuMemAddressFree", "cuMemUnmap", "cudaEventDestroy",
                          "cudaHostUnregister", "cudaStreamDestroy"};
Names const kTakesMemory = {"cuMemAddressReserve", "cuMemCreate", "cudaHostRegister"};

struct Ending {
  std::optional<Status> status;  // empty: the run has ended well
  std::string text;
};

class StandInFaults : public StandInRun {
 protected:
  Ending ending(cuda::PlannedFault const& fault) {
    try {
      story({.settings = cuda::Settings{.seed = ++seed}, .fault = fault});
    } catch (Error const& error) {
      return {error.status(), error.what()};
    }
    return {};
  }

  void expect_ending(cuda::PlannedFault const& fault) {
    auto const is = ending(fault);
    SCOPED_TRACE(fmt::format("{} {}, kind {}: {}", fault.call, fault.n,
                             static_cast<int>(fault.kind), is.text));
    bool const memory = fault.kind == Kind::out_of_memory && kTakesMemory.contains(fault.call);
    bool const at_end = kGivesBack.contains(fault.call);
    // The last waits of streams are those of their ends.
    bool const may_be_at_end = at_end || fault.call == "cudaStreamSynchronize";
    if (is.status || !may_be_at_end) {
      EXPECT_EQ(is.status, memory ? Status::cannot_fit : Status::device);
      EXPECT_NE(is.text.find("CUDA device 1"), is.text.npos);
      if (memory) {
        EXPECT_NE(is.text.find("memory"), is.text.npos);
      }
    }
    // What was not given back is left, and who cannot wait for work ends in the middle of it.
    if (!may_be_at_end && fault.call != "cuMemRelease") {
      EXPECT_EQ(cuda::complaints(), std::vector<std::string>{});
      EXPECT_EQ(cuda::leftovers(), std::vector<std::string>{});
    }
    cuda::reset();
    cuda::give_back_leftovers();
  }

  std::uint64_t seed = 0;
};

TEST_F(StandInFaults, end_the_run_with_what_has_failed) {
  story({.settings = cuda::Settings{.laziness = cuda::Laziness::eager}});
  auto calls = cuda::calls();
  // A failure has a name only where there is one. These also look at how a run fails at the end of
  // one that does not.
  calls.erase("cuGetErrorName");
  for (auto const* const call : {"cuMemAddressReserve", "cuMemGetAllocationGranularity"})
    --calls.at(call);
  calls.erase("cudaMemGetInfo");
  int faults = 0;
  for (auto const& [call, count] : calls) {
    for (auto const kind : {Kind::failed, Kind::out_of_memory, Kind::sticky, Kind::lost_device}) {
      for (auto const n : std::set<std::int64_t>{0, count / 3, count * 2 / 3}) {
        expect_ending({.call = call, .n = n, .kind = kind});
        ++faults;
      }
    }
  }
  fmt::print("{} faults of {} kinds of calls\n", faults, calls.size());
}

// The stand-in knows when nothing can ever go on, and says so as a watchdog does.
TEST_F(StandInFaults, work_that_never_ends_is_told_once_a_watchdog_sees_it) {
  story({.settings = cuda::Settings{.laziness = cuda::Laziness::eager}});
  auto calls = cuda::calls();
  for (auto const* const call :
       {"launch", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaEventRecord"}) {
    for (auto const n : std::set<std::int64_t>{calls[call] / 3, calls[call] / 2}) {
      auto const is = ending({.call = call, .n = n, .kind = Kind::stuck});
      SCOPED_TRACE(fmt::format("{} {}: {}", call, n, is.text));
      EXPECT_EQ(is.status, Status::device);
      EXPECT_NE(is.text.find("cudaErrorLaunchTimeout"), is.text.npos);
      EXPECT_EQ(cuda::leftovers(), std::vector<std::string>{});
      cuda::reset();
      cuda::give_back_leftovers();
    }
  }
}

}  // namespace
}  // namespace spillway::test::cuda_faults_test
