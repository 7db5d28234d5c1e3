// Which rank reads, warns of and writes a file of the cache that several may share.
#include "profile/shared_profile.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/captured_log.hpp"
#include "tests/support/two_ranks.hpp"

namespace spillway::shared_profile_test {
namespace {

namespace fs = std::filesystem;

About const kHere = {{"cpu", "one"}};

struct Case {
  int rank;
  bool shares;      // the other rank is on this host, and has the same file
  bool speaks;      // this rank does, for both or for itself
  double kept = 0;  // of the two rates that were measured
};
constexpr Case kCases[] = {
    {0, true, true, 5}, {1, true, false, 0}, {0, false, true, 6}, {1, false, true, 5}};

class SharedProfiles : public ::testing::Test {
 protected:
  SharedProfiles() { fs::remove_all(m_directory); }
  ~SharedProfiles() override { fs::remove_all(m_directory); }

  // An identity is the number of a file and the name of a host, which ends with a zero byte.
  static test::TwoRanks ranks(Case const& each) {
    using Identity = std::array<char, sizeof(std::size_t) + 64>;
    return {each.rank, test::TwoRanks::On::two_nodes, [&each](std::span<std::byte> said) {
              test::change<Identity>(said, [&](Identity identity) {
                if (!each.shares) identity.back() = 'x';
                return identity;
              });
            }};
  }

  test::CapturedLog m_log;
  fs::path const m_directory = fs::path(::testing::TempDir()) / "shared_profiles";
  ProfileCache const m_cache{m_directory};
};

TEST_F(SharedProfiles, that_cannot_be_read_are_warned_of_once) {
  fs::create_directories(m_directory);
  std::ofstream(m_cache.file(kHere)) << "no profile";
  for (auto const& each : kCases) {
    auto comm = ranks(each);
    SharedProfile const profile(m_cache, kHere, comm);
    EXPECT_EQ(profile.path(), m_cache.file(kHere).string());
    profile.find({}, {}, comm);
    auto const said = m_log.taken();
    EXPECT_EQ(said.starts_with("warning: " + profile.path() + ": "), each.speaks) << said;
    EXPECT_EQ(said.ends_with("; measured anew\n"), each.speaks) << said;
    EXPECT_EQ(said.empty(), !each.speaks) << said;
  }
}

TEST_F(SharedProfiles, keep_the_slowest_of_those_that_share_them) {
  std::vector<Machine> const all = {{.memory_gbps = 6}, {.memory_gbps = 5}};
  for (auto const& each : kCases) {
    fs::remove_all(m_directory);
    auto comm = ranks(each);
    SharedProfile(m_cache, kHere, comm).store(all);
    EXPECT_EQ(m_cache.find(kHere).machine.memory_gbps, each.kept);
    EXPECT_EQ(fs::exists(m_cache.file(kHere)), each.speaks);
  }
  EXPECT_EQ(m_log.taken(), "");
}

TEST_F(SharedProfiles, that_cannot_be_kept_are_told_of_once) {
  ProfileCache const nowhere("");
  for (auto const& each : kCases) {
    auto comm = ranks(each);
    SharedProfile(nowhere, kHere, comm).store(std::vector<Machine>(2));
    EXPECT_EQ(m_log.taken(), each.speaks ? "info: profile: not kept for the next run: neither "
                                           "XDG_CACHE_HOME nor HOME says where\n"
                                         : "");
  }
}

TEST(KnownRates, are_all_of_them_or_none) {
  Machine const machine{.memory_gbps = 1, .h2d_gbps = 2};
  EXPECT_TRUE(knows(machine, {&Machine::memory_gbps, &Machine::h2d_gbps}));
  EXPECT_FALSE(knows(machine, {&Machine::memory_gbps, &Machine::d2h_gbps}));
  EXPECT_TRUE(knows(machine, {}));
}

}  // namespace
}  // namespace spillway::shared_profile_test
