#include "crash_test.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/parity/experiment.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test {
namespace {

namespace fs = std::filesystem;

bool is_checkpoint(fs::path const& path) {
  return path.filename().string().starts_with("step-") && !path.has_extension();
}

// But for checkpoints, of which there may be more, and the summary: a run that was killed behind
// its last checkpoint never wrote it.
std::set<std::string> other_names_in(fs::path const& run) {
  std::set<std::string> names;
  for (auto const& entry : fs::directory_iterator(run))
    if (!is_checkpoint(entry.path())) names.insert(entry.path().filename().string());
  names.erase("summary.json");
  // Beside config.yaml, for a run that went on without the fault that had ended it.
  std::erase_if(names, [](std::string const& name) { return name.starts_with("config-"); });
  return names;
}

// The steps of checkpoints that are not marked.
std::vector<std::int64_t> steps_in(fs::path const& run) {
  std::vector<std::int64_t> steps;
  if (!fs::exists(run)) return steps;
  for (auto const& entry : fs::directory_iterator(run)) {
    if (is_checkpoint(entry.path()))
      steps.push_back(std::stoll(entry.path().filename().string().substr(5)));
  }
  return steps;
}

std::int64_t resumed_step(Outcome const& outcome) {
  std::smatch found;
  std::regex const said("going on from .* of step ([0-9]+)|already at step ([0-9]+)");
  if (!std::regex_search(outcome.output, found, said)) return 0;
  return std::stoll(found[1].matched ? found[1] : found[2]);
}

}  // namespace

CrashTest::CrashTest() {
  auto job = read("job.yaml");
  job.replace(job.find("layers: 2, hidden: 64"), 21, "layers: 1, hidden: 32");
  write("job.yaml", job);
}

void CrashTest::SetUp() {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
}

FastDriveTest::FastDriveTest() {
  write("fast.yaml", fast_drive_machine());
  auto job = read("job.yaml");
  job.replace(job.find("layers: 1, hidden: 32"), 21, "layers: 4, hidden: 64");
  write("job.yaml", job);
}

std::string FastDriveTest::with(std::string const& overrides) const {
  return fmt::format(
      "memory.nvme.path={} memory.nvme.size=1GiB spill.checksum=true precision=bf16 "
      "data.sequence=128 run.checkpoint.every=5 {} debug.force_backend=posix debug.machine={} {}",
      path("nvme"),
      fmt::join(on_device() ? scarce_memory() : std::vector<std::string>{"memory.device=6MiB"},
                " "),
      path("fast.yaml"), overrides);
}

void CrashTest::keep_start() const {
  fs::remove_all(m_dir / "start");
  if (fs::exists(m_dir / "run")) fs::rename(m_dir / "run", m_dir / "start");
}

void CrashTest::begin_anew() const {
  fs::remove_all(m_dir / "run");
  if (fs::exists(m_dir / "start"))
    fs::copy(m_dir / "start", m_dir / "run", fs::copy_options::recursive);
}

void CrashTest::keep_whole(std::string const& overrides, int ranks) {
  begin_anew();
  auto const outcome = train(overrides, ranks);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  fs::remove_all(m_dir / "whole");
  fs::rename(m_dir / "run", m_dir / "whole");
}

std::vector<std::string> CrashTest::points(Planted fault, std::string const& overrides,
                                           int ranks) const {
  fault.what.clear();
  fault.at.clear();
  fault.count_file = path("calls");
  fs::remove(m_dir / "calls");
  begin_anew();
  auto const outcome = run_command(planted(fault) + train_command(overrides, ranks));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  std::vector<std::string> result;
  std::istringstream lines(read("calls"));
  for (std::string line; std::getline(lines, line);) result.push_back(line);
  return result;
}

void CrashTest::at_points(Planted const& fault, std::string const& overrides, int ranks, int stride,
                          Judge const& judge) {
  auto const calls = points(fault, overrides, ranks);
  ASSERT_GT(calls.size(), 1u);
  RecordProperty("points", static_cast<int>(calls.size()));
  auto const step = static_cast<std::size_t>(takes_all() ? 1 : stride);
  // The last call is among them, however long the strides are.
  for (std::size_t k = 0, next = turn_of(step); k != calls.size() - 1; next += step) {
    k = std::min(next, calls.size() - 1);
    SCOPED_TRACE(fmt::format("call {} of {}: {}", k + 1, calls.size(), calls[k]));
    begin_anew();
    auto here = fault;
    here.at = fmt::format("{}{}", k + 1, fault.at);
    judge(run_command(planted(here) + train_command(overrides, ranks)));
    if (HasFatalFailure()) return;
  }
}

std::int64_t CrashTest::committed_step() const {
  if (fs::exists(m_dir / "run/latest")) return std::stoll(read("run/latest").substr(5));
  auto const steps = steps_in(m_dir / "run");
  return steps.empty() ? 0 : std::ranges::max(steps);
}

void CrashTest::expect_sound_checkpoints() const {
  std::string inspect = "true";
  for (auto const step : steps_in(m_dir / "run"))
    inspect +=
        fmt::format(" && {} inspect {}/step-{}", spillway_command(kAlone), path("run"), step);
  auto const outcome = run_command(inspect + " > /dev/null");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  auto const committed = committed_step();
  EXPECT_TRUE(committed == 0 || fs::exists(m_dir / fmt::format("run/step-{}", committed)));
}

std::int64_t CrashTest::expect_to_go_on(std::string const& overrides, int ranks) {
  auto const committed = committed_step();
  auto const outcome = train(overrides, ranks);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(complaints(outcome).empty()) << outcome.output;
  EXPECT_GE(resumed_step(outcome), committed) << outcome.output;
  EXPECT_EQ(bits("run"), bits("whole"));
  expect_equal_state(m_dir / "whole", m_dir / "run");
  EXPECT_EQ(other_names_in(m_dir / "run"), other_names_in(m_dir / "whole"));
  return resumed_step(outcome);
}

}  // namespace spillway::test
