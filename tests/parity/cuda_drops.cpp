// No call of the backend, and no wait of a Program, can be left out of a run unnoticed.
#include <fmt/format.h>

#include <cstdlib>

#include "plan/proof/verify.hpp"
#include "tests/parity/cuda_session.hpp"
#include "tests/parity/stand_in_run.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/engine_order.hpp"
#include "tests/support/cuda/order.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::cuda_drops_test {
namespace {

struct Facts {
  Story story;
  std::vector<std::string> told;
  std::vector<int> priorities;
  bool operator==(Facts const&) const = default;
};

class StandInDrops : public StandInRun {
 protected:
  // A run as users have it, without poison, and what a Device does besides.
  Facts facts(cuda::NextRun next) {
    bool const eager = next.settings->laziness == cuda::Laziness::eager;
    next.settings->devices = 2;
    next.settings->memory_bytes = 12 << 20;
    cuda::ask_of_next_run(next);
    auto all = run();
    all.poison = false;
    all.used_before = !eager;
    // Who looks at times waits for all lanes, so waits for the step before would be of no use.
    if (eager) all.after_step = [&](Engine const& engine) { expect_times(engine); };
    Facts facts;
    auto const ending = train(all, program);
    EXPECT_EQ(ending.error, "");
    facts.story = ending.steps;
    facts.story.insert(facts.story.end(), ending.state.begin(), ending.state.end());
    facts.told = device_session();
    facts.priorities = cuda::priorities();
    return facts;
  }

  // A lane of an eager device does one item after the other, and the run's begin is there first.
  void expect_times(Engine const& engine) const {
    std::map<Lane, double> last_end_s;
    for (auto const& time : engine.last_step_times()) {
      auto const lane = program.items[static_cast<std::size_t>(time.item)].lane;
      if (lane != Lane::compute && lane != Lane::h2d && lane != Lane::d2h) continue;
      auto& before_s = last_end_s[lane];
      EXPECT_GT(time.start_s, before_s);
      EXPECT_GT(time.end_s, time.start_s);
      before_s = time.end_s;
    }
  }

  Program program = tiny_program(run());
};

constexpr std::array kLaziness = {cuda::Laziness::eager, cuda::Laziness::latest};

// The process that a dropped call leaves may be in any state, so each has one of its own: these
// tests are run there, and pass if nothing was noticed.
TEST_F(StandInDrops, DISABLED_a_call_is_not_noticed) {
  cuda::PlannedFault const fault{.call = std::getenv("SPILLWAY_DROPPED"),
                                 .n = static_cast<std::int64_t>(number_in("SPILLWAY_NUMBER", 0)),
                                 .kind = cuda::PlannedFault::Kind::dropped};
  for (auto const laziness : kLaziness) {
    cuda::Settings const settings{.laziness = laziness};
    EXPECT_EQ(facts({.settings = settings, .fault = fault}), facts({.settings = settings}));
  }
}

TEST_F(StandInDrops, DISABLED_a_wait_is_not_noticed) {
  static Program const whole = program;
  auto& waits = program.items[number_in("SPILLWAY_DROPPED", 0)].waits;
  waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(number_in("SPILLWAY_NUMBER", 0)));
  auto all = run();
  all.make_watch = [](Program const&, Tiers const& tiers) {
    return cuda::make_engine_order(whole, tiers);
  };
  all.poison = false;  // which waits for all lanes between steps
  for (auto const laziness : kLaziness) {
    auto const bits = [&](Program const& of) {
      cuda::ask_of_next_run({.settings = cuda::Settings{.laziness = laziness}});
      auto const ending = train(all, of);
      EXPECT_EQ(ending.error, "");
      return std::pair(ending.steps, ending.state);
    };
    EXPECT_EQ(bits(program), bits(whole));
  }
}

constexpr int kHang_s = 900;  // no run takes so long but one that hangs, which is noticed, too

bool is_noticed(char const* test, std::string const& dropped, std::int64_t n) {
  auto const command = fmt::format(
      "SPILLWAY_DROPPED={} SPILLWAY_NUMBER={} timeout -k 5 {} {} --gtest_also_run_disabled_tests "
      "--gtest_filter=StandInDrops.DISABLED_{} >/dev/null 2>&1",
      dropped, n, kHang_s, std::filesystem::read_symlink("/proc/self/exe").string(), test);
  return std::system(command.c_str()) != 0;
}

// Returns the numbers of all calls from the `first`, or of `most` of them.
std::set<std::int64_t> some_of(std::int64_t calls, std::int64_t most, std::int64_t first = 0) {
  std::set<std::int64_t> result;
  auto const all = static_cast<unsigned>(calls - first);
  for (auto const n : sampled_seeds(static_cast<unsigned>(most), all)) result.insert(first + n);
  return result;
}

// What changes nothing where it is has a use elsewhere: streams are waited for before they end,
// also by an Engine that ends where it is; Device::copy waits for pinned memory, too. A few copies
// bring to the host what nobody reads: old values that are wholly overwritten, and parameters after
// the last step.
constexpr std::int64_t kCopiesThatNobodyReads = 3;
constexpr std::string_view kCopy = "cudaMemcpyAsync";

// The run asks for all properties of its device and looks at one of them; a Device by itself, which
// asks once more, tells them all.
std::int64_t first_to_drop(std::string const& call, std::int64_t count) {
  std::set<std::string> const of_properties = {"cudaDeviceGetAttribute", "cudaGetDeviceProperties",
                                               "cudaMemGetInfo", "cudaDriverGetVersion",
                                               "cudaRuntimeGetVersion"};
  return of_properties.contains(call) ? count / 2 : 0;
}

TEST_F(StandInDrops, no_call_can_be_left_out) {
  facts({.settings = cuda::Settings{.laziness = cuda::Laziness::eager}});
  auto const calls = cuda::calls();
  auto needless = cuda::needless_calls();
  std::vector<std::string> unnoticed, copies;
  std::int64_t dropped = 0, made = 0, changed_nothing = 0;
  for (auto const& [call, count] : calls) {
    made += count;
    // More copies are dropped than may go unnoticed.
    auto const most = call == kCopy ? 1 + kCopiesThatNobodyReads : 1;
    for (auto const n : some_of(count, most, first_to_drop(call, count))) {
      ++dropped;
      if (is_noticed("a_call_is_not_noticed", call, n)) continue;
      auto& list = call == kCopy ? copies : unnoticed;
      if (needless[call].contains(n))
        ++changed_nothing;
      else
        list.push_back(fmt::format("{} {} of {}", call, n, count));
    }
  }
  EXPECT_EQ(unnoticed, std::vector<std::string>{});
  EXPECT_LE(std::ssize(copies), kCopiesThatNobodyReads) << ::testing::PrintToString(copies);
  fmt::print(
      "{} calls of {} kinds, {} of them dropped; {} changed nothing where they are, {} copies\n",
      made, calls.size(), dropped, changed_nothing, copies.size());
}

// A wait that is not needed follows from others, and the proof holds without it. Nor is one needed
// of a batch for the passes of the last run: the Engine begins no run before they have ended, of
// which the proof knows nothing.
bool is_needed(Program program, ItemNumber item, std::int64_t n) {
  auto& waits = program.items[static_cast<std::size_t>(item)].waits;
  auto const awaited = waits[static_cast<std::size_t>(n)];
  bool const of_last_run = awaited > item;
  if (of_last_run && program.items[static_cast<std::size_t>(item)].lane == Lane::data &&
      program.items[static_cast<std::size_t>(awaited)].lane == Lane::compute)
    return false;
  waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(n));
  return verify(program).has_value();
}

TEST_F(StandInDrops, no_wait_that_is_needed_can_be_left_out) {
  std::vector<std::pair<ItemNumber, std::int64_t>> waits;
  for (auto const& item : program.items) {
    for (std::size_t i = 0; i < item.waits.size(); ++i)
      waits.emplace_back(item.number, static_cast<std::int64_t>(i));
  }
  std::vector<std::string> unnoticed;
  std::size_t needless = 0;
  auto const tried = some_of(std::ssize(waits), 16);
  for (auto const i : tried) {
    auto const& [item, n] = waits[static_cast<std::size_t>(i)];
    if (!is_needed(program, item, n)) {
      ++needless;
      continue;
    }
    if (is_noticed("a_wait_is_not_noticed", std::to_string(item), n)) continue;
    auto const& of = program.items[static_cast<std::size_t>(item)];
    unnoticed.push_back(fmt::format("{} for {}", describe(program, item),
                                    describe(program, of.waits[static_cast<std::size_t>(n)])));
  }
  EXPECT_EQ(unnoticed, std::vector<std::string>{});
  fmt::print("{} waits dropped, {} follow from others\n", tried.size() - needless, needless);
}

// What a lane publishes tells others what it knows; every such telling is left out in turn, as far
// as the clocks go. The runs' ends need all of them: a count that stays behind holds up `finish`.
TEST_F(StandInDrops, no_publish_that_tells_something_can_be_left_out) {
  auto all = run();
  all.poison = false;
  all.steps = 3;
  auto const run_without = [&](std::int64_t n) {
    cuda::ask_of_next_run(
        {.settings = cuda::Settings{.laziness = cuda::Laziness::latest}, .dropped_release = n});
    EXPECT_EQ(train(all, program).error, "");
  };
  run_without(-1);
  EXPECT_EQ(cuda::complaints(), std::vector<std::string>{});
  constexpr std::int64_t cheap = 32;  // no process each
  auto const tried = some_of(cuda::releases(), cheap);
  std::int64_t needless = 0;
  std::vector<std::int64_t> unnoticed;
  // Threads meet in another order each time, and what one run hides the next ones show.
  constexpr int runs = 5;
  auto const shows = [&](std::int64_t n) {
    run_without(n);
    needless += !cuda::dropped_release_was_of_use();
    return !cuda::dropped_release_was_of_use() || !cuda::complaints().empty();
  };
  for (auto const n : tried) {
    bool shown = false;
    for (int run = 0; run < runs && !shown; ++run) shown = shows(n);
    if (!shown) unnoticed.push_back(n);
  }
  EXPECT_EQ(unnoticed, std::vector<std::int64_t>{});
  fmt::print("{} publishes dropped; {} told nobody anything new\n", tried.size(), needless);
}

}  // namespace
}  // namespace spillway::test::cuda_drops_test
