// Profiles kept from earlier runs: used where they fit, measured anew where not, never an error.
#include <fmt/format.h>

#include <fstream>

#include "fault_test.hpp"
#include "profile/profile_cache.hpp"

namespace spillway::test::bad_profiles_test {
namespace {

namespace fs = std::filesystem;

class BadProfiles : public FaultTest {
 protected:
  // With a cache of its own, unless `environment` says otherwise.
  Outcome run(std::string const& command, std::string const& environment) const {
    return run_command(
        fmt::format("cd {} && rm -rf run && env {} {}", path(""), environment, command));
  }
  std::string measuring(std::string const& overrides = "", int ranks = kAlone) const {
    return train_command("debug.machine=none " + overrides, ranks);
  }
  Outcome start(std::string const& overrides = "", int ranks = kAlone) const {
    return run(measuring(overrides, ranks), "XDG_CACHE_HOME=" + path("cache"));
  }
  // The only file of the cache with times of ops; that of a network has none.
  fs::path kept() const {
    fs::path found;
    for (auto const& entry : fs::directory_iterator(m_dir / "cache/spillway")) {
      std::ifstream file(entry.path());
      std::string const text{std::istreambuf_iterator<char>(file), {}};
      if (text.find("\nops:") == std::string::npos) continue;
      EXPECT_TRUE(found.empty()) << found << " and " << entry.path();
      found = entry.path();
    }
    return found;
  }

  // Counts lines of the log, which its closing list of warnings repeats.
  static int count(Outcome const& outcome, std::string const& text) {
    int lines = 0;
    for (auto const& line : outcome.lines())
      lines += line.starts_with("spillway: ") && line.find(text) != std::string::npos;
    return lines;
  }
  static void expect_measured(Outcome const& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(count(outcome, "profile: measured "), 1) << outcome.output;
  }
  static void expect_known(Outcome const& outcome, fs::path const& file) {
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(count(outcome, "ops known from " + file.string() + "; measured 0"), 1)
        << outcome.output;
    EXPECT_EQ(count(outcome, "warning"), 0) << outcome.output;
  }
  // One warning, which names the file and says `why`; then all is well again.
  void expect_replaced(fs::path const& file, std::string const& why) const {
    auto const outcome = start();
    expect_measured(outcome);
    EXPECT_EQ(count(outcome, "warning"), 1) << outcome.output;
    EXPECT_EQ(count(outcome, "warning: " + file.string() + ": "), 1) << outcome.output;
    EXPECT_EQ(count(outcome, why + "; measured anew"), 1) << outcome.output;
    expect_known(start(), file);
  }
};

TEST_F(BadProfiles, a_second_run_measures_nothing_and_profile_measures_all) {
  expect_measured(start());
  auto const file = kept();
  expect_known(start("run.steps=2"), file);
  auto const before = fs::last_write_time(file);
  auto const profile = run(spillway_command(kAlone) + " profile job.yaml -o machine.yaml",
                           "XDG_CACHE_HOME=" + path("cache"));
  expect_measured(profile);
  EXPECT_GT(fs::last_write_time(file), before);
  EXPECT_NE(read("machine.yaml").find("\nabout:\n  program: "), std::string::npos);
  expect_known(start(), file);
}

TEST_F(BadProfiles, ranks_share_what_they_measured_together) {
  expect_measured(start("", kTwoRanks));
  auto const file = kept();
  expect_known(start("", kTwoRanks), file);
  expect_measured(start());  // one rank has its core to itself: other times
}

// A micro-batch that nobody asked for gives way to one that fits, whose ops have other sizes.
TEST_F(BadProfiles, a_better_micro_batch_is_measured_too) {
  auto job = read("job.yaml");
  job.erase(job.find(", micro: 4"), std::string_view(", micro: 4").size());
  write("job.yaml", job);
  auto const keys = std::string("batch.sequences=64 memory.device=8MiB ");
  auto const outcome = start(keys);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(count(outcome, "profile: measured "), 2) << outcome.output;
  auto const said = std::string("info: batch.micro: ");
  auto const at = outcome.output.find(said);
  ASSERT_NE(at, std::string::npos) << outcome.output;
  auto const micro = std::stoi(outcome.output.substr(at + said.size()));
  auto const again = start(keys + fmt::format("batch.micro={}", micro));
  EXPECT_EQ(count(again, "; measured 0"), 1) << again.output;
}

TEST_F(BadProfiles, a_damaged_file_is_replaced) {
  expect_measured(start());
  auto const file = kept();
  auto const whole = read("cache/spillway/" + file.filename().string());
  for (auto const& text : {whole.substr(0, whole.size() / 2), std::string("no: {yaml"),
                           std::string(), std::string(1000, '\0')}) {
    std::ofstream(file, std::ios::binary) << text;
    expect_replaced(file, "damaged, or cut short");
  }
}

TEST_F(BadProfiles, another_machines_file_under_this_ones_name_is_not_used) {
  expect_measured(start());
  auto const file = kept();
  auto profile = parse_profile(read("cache/spillway/" + file.filename().string()), "kept");
  std::erase_if(profile.about, [](auto const& entry) { return entry.first == "date"; });
  for (auto& [key, value] : profile.about)
    if (key == "cpu") value = "Z80";
  std::ofstream(file) << sealed_profile(profile.about, profile.machine);
  auto const warned = start();
  expect_measured(warned);
  EXPECT_EQ(count(warned, "warning: " + file.string() + ": measured elsewhere (cpu: Z80, here "), 1)
      << warned.output;
  expect_known(start(), file);
}

TEST_F(BadProfiles, without_a_place_for_it_every_run_measures_and_says_so) {
  write("file", "no directory");
  for (auto const& [environment, why] :
       {std::pair{std::string("-u XDG_CACHE_HOME -u HOME"), "neither XDG_CACHE_HOME nor HOME"},
        std::pair{"XDG_CACHE_HOME=" + path("file"), "Not a directory"}}) {
    auto const outcome = run(measuring(), environment);
    expect_measured(outcome);
    EXPECT_EQ(count(outcome, "profile: not kept for the next run: "), 1) << outcome.output;
    EXPECT_EQ(count(outcome, why), 1) << outcome.output;
  }
}

}  // namespace
}  // namespace spillway::test::bad_profiles_test
