#include "profile/profile_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "profile/hardware.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::test::profile_cache_test {
namespace {

namespace fs = std::filesystem;

About const kHere = {{"program", "1.0 abc"}, {"cpu", "this: 'one'"}, {"threads", "2"}};
About const kElsewhere = {{"program", "1.0 abc"}, {"cpu", "that one"}, {"threads", "2"}};

class ProfileCacheTest : public ::testing::Test {
 protected:
  ProfileCacheTest() { fs::remove_all(m_root); }
  ~ProfileCacheTest() override { fs::remove_all(m_root); }

  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(m_cache.file(kHere)).rdbuf();
    return text.str();
  }
  void write(std::string const& text) const { std::ofstream(m_cache.file(kHere)) << text; }

  // Nothing of it is used, which is said; the next store puts it right.
  void expect_replaced(std::string const& why) const {
    auto const found = m_cache.find(kHere);
    EXPECT_EQ(found.machine.memory_gbps, 0) << why;
    EXPECT_TRUE(found.machine.op_s.empty()) << why;
    EXPECT_TRUE(found.trouble.starts_with(m_cache.file(kHere).string())) << found.trouble;
    EXPECT_NE(found.trouble.find(why), std::string::npos) << found.trouble;
    EXPECT_EQ(m_cache.store(kHere, m_machine), "");
    EXPECT_EQ(m_cache.find(kHere).trouble, "");
    EXPECT_EQ(m_cache.find(kHere).machine.op_s, m_machine.op_s);
  }

  fs::path m_root = fs::path(::testing::TempDir()) / "profile_cache";
  ProfileCache m_cache{m_root / "a/b"};
  Machine m_machine{.memory_gbps = 17.25, .op_s = {{"matmul f32[2,3] -> f32[2] x=1", 1.0 / 3}}};
};

TEST_F(ProfileCacheTest, finds_what_was_stored_under_the_same_key_only) {
  EXPECT_EQ(m_cache.find(kHere).machine.memory_gbps, 0);
  EXPECT_EQ(m_cache.find(kHere).trouble, "") << "there is no file: nothing to say";
  EXPECT_EQ(m_cache.store(kHere, m_machine), "");
  EXPECT_EQ(m_cache.find(kHere).machine.memory_gbps, 17.25);
  EXPECT_EQ(m_cache.find(kHere).machine.op_s, m_machine.op_s);
  EXPECT_TRUE(m_cache.find(kElsewhere).machine.op_s.empty());
  EXPECT_EQ(m_cache.find(kElsewhere).trouble, "");
}

TEST_F(ProfileCacheTest, adds_to_what_is_there_and_new_numbers_win) {
  m_cache.store(kHere, m_machine);
  Machine more{.nvme_read_gbps = 2, .op_s = {{"add", 3}, {m_machine.op_s.begin()->first, 1}}};
  m_cache.store(kHere, more);
  auto const machine = m_cache.find(kHere).machine;
  EXPECT_EQ(machine.memory_gbps, 17.25);
  EXPECT_EQ(machine.nvme_read_gbps, 2);
  EXPECT_EQ(machine.op_s, more.op_s);
}

TEST_F(ProfileCacheTest, belongs_to_the_user_alone) {
  m_cache.store(kHere, m_machine);
  for (auto const& path : {m_root / "a", m_root / "a/b"}) {
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u) << path;
  }
  int files = 0;
  for (auto const& entry : fs::directory_iterator(m_root / "a/b")) {
    EXPECT_EQ(entry.path(), m_cache.file(kHere)) << "nothing half-written is left";
    ++files;
  }
  EXPECT_EQ(files, 1);
}

TEST_F(ProfileCacheTest, a_file_cut_short_anywhere_is_replaced) {
  m_cache.store(kHere, m_machine);
  auto const whole = text();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    write(whole.substr(0, size));
    expect_replaced("damaged");
  }
}

TEST_F(ProfileCacheTest, a_changed_byte_is_damage) {
  m_cache.store(kHere, m_machine);
  auto changed = text();
  changed[changed.find("17.25")] = '9';
  write(changed);
  expect_replaced("damaged");
  write("{ no YAML: [");
  expect_replaced("damaged");
}

// Sealed, so no accident of the storage: another program's idea of a profile.
TEST_F(ProfileCacheTest, numbers_that_cannot_be_are_replaced) {
  m_cache.store(kHere, {});
  m_machine.nvme_both_gbps = 3;  // more than both alone
  write(sealed_profile(kHere, m_machine));
  m_machine.nvme_both_gbps = 0;
  expect_replaced("nvme.both_gbps: 3 is more than");
  write(sealed_profile({{"cpu", "x"}, {"cpu", "y"}}, m_machine));
  expect_replaced("given twice");
}

TEST_F(ProfileCacheTest, another_machines_file_under_this_ones_name_is_not_used) {
  m_cache.store(kHere, {});
  write(sealed_profile(kElsewhere, m_machine));
  expect_replaced("measured elsewhere (cpu: that one, here this: 'one')");
  write(sealed_profile({{"program", "1.0 abc"}}, m_machine));
  expect_replaced("(cpu: not said, here this: 'one')");
  auto more = kHere;
  more.emplace_back("drive", "ext4");
  write(sealed_profile(more, m_machine));
  expect_replaced("it says more");
}

TEST_F(ProfileCacheTest, refreshed_is_read_by_others_and_finds_nothing_itself) {
  ProfileCache const refresh(m_root / "a/b", ProfileCache::Use::refresh);
  EXPECT_EQ(refresh.store(kHere, m_machine), "");
  EXPECT_TRUE(refresh.find(kHere).machine.op_s.empty());
  EXPECT_EQ(m_cache.find(kHere).machine.op_s, m_machine.op_s);
}

TEST_F(ProfileCacheTest, where_nothing_can_be_written_nothing_is_kept) {
  EXPECT_EQ(ProfileCache("").store(kHere, m_machine), "neither XDG_CACHE_HOME nor HOME says where");
  EXPECT_EQ(ProfileCache("").find(kHere).trouble, "");
  fs::create_directories(m_root);
  std::ofstream(m_root / "file") << "no directory";
  ProfileCache const below(m_root / "file/cache");
  EXPECT_EQ(below.store(kHere, m_machine), (m_root / "file/cache").string() + ": Not a directory");
  EXPECT_EQ(below.find(kHere).trouble, "");
}

TEST_F(ProfileCacheTest, remembers_what_it_could_not_write_if_asked_to) {
  ProfileCache const remember("", ProfileCache::Use::remember);
  EXPECT_TRUE(remember.find(kHere).machine.op_s.empty());
  EXPECT_NE(remember.store(kHere, m_machine), "");
  EXPECT_EQ(remember.find(kHere).machine.op_s, m_machine.op_s);
  auto other = kHere;
  other.emplace_back("drive", "ext4");
  EXPECT_TRUE(remember.find(other).machine.op_s.empty());
}

TEST_F(ProfileCacheTest, what_cannot_be_written_whole_or_get_its_name_leaves_nothing) {
  auto const directory = m_root / "a/b";
  {
    FileSizeLimit const limit(16);
    EXPECT_EQ(m_cache.store(kHere, m_machine), directory.string() + ": File too large");
  }
  EXPECT_EQ(names_in(directory), std::vector<std::string>{});
  fs::create_directories(m_cache.file(kHere) / "of somebody");
  EXPECT_EQ(m_cache.store(kHere, m_machine), directory.string() + ": Is a directory");
  EXPECT_EQ(names_in(directory), std::vector<std::string>{m_cache.file(kHere).filename().string()});
}

TEST_F(ProfileCacheTest, readers_never_see_half_a_file) {
  m_cache.store(kHere, m_machine);
  auto const store = [&] {
    for (int i = 0; i < 100; ++i) EXPECT_EQ(m_cache.store(kHere, m_machine), "");
  };
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) writers.emplace_back(store);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(m_cache.find(kHere).trouble, "");
  for (auto& writer : writers) writer.join();
}

TEST(UserProfileCache, is_where_the_environment_says) {
  setenv("XDG_CACHE_HOME", "/c", 1);
  EXPECT_EQ(user_profile_cache(), "/c/spillway");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/h", 1);
  EXPECT_EQ(user_profile_cache(), "/h/.cache/spillway");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(user_profile_cache(), "/h/.cache/spillway");
  unsetenv("HOME");
  EXPECT_EQ(user_profile_cache(), "");
}

TEST(Hardware, is_read_from_the_kernels_texts) {
  EXPECT_EQ(cpu_name("processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
                     "model name\t: AMD EPYC 9654\n\nprocessor\t: 1\nmodel name\t: other\n"),
            "AMD EPYC 9654 / 25 / 17");
  EXPECT_EQ(cpu_name("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n"),
            "0x41 / 0xd4f");
  EXPECT_EQ(cpu_name("model name"), "");
  constexpr auto mounts =
      "22 28 0:21 / /proc rw,nosuid - proc proc rw\n"
      "28 1 259:1 / / rw,relatime shared:1 master:2 - ext4 /dev/nvme0n1p1 rw\n"
      "40 28 0:35 / /home rw - nfs4 server:/home rw,addr=10.0.0.1\n";
  EXPECT_EQ(mount_of(mounts, "259:1"), "ext4 /dev/nvme0n1p1");
  EXPECT_EQ(mount_of(mounts, "0:35"), "nfs4 server:/home");
  EXPECT_EQ(mount_of(mounts, "0:3"), "");
  EXPECT_EQ(drive_of("/no/such/directory"), "");
  EXPECT_NE(drive_of("/proc"), drive_of(::testing::TempDir()));
  EXPECT_EQ(hardware(), hardware());
}

}  // namespace
}  // namespace spillway::test::profile_cache_test
