// What tells measurements of two circumstances apart.
#include "run/profile_key.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>

#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "profile/hardware.hpp"
#include "profile/profile_cache.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "version.hpp"

namespace spillway::test::profile_key_test {
namespace {

std::string value(About const& about, std::string const& key) {
  for (auto const& [name, text] : about)
    if (name == key) return text;
  return "none";
}

std::vector<std::string> names(About const& about) {
  std::vector<std::string> result;
  for (auto const& [name, text] : about) result.push_back(name);
  return result;
}

TEST(ProfileKey, names_the_program_the_hardware_and_how_it_is_used) {
  auto config = tiny_config();
  config.debug.kernels = KernelSet::portable;
  auto const key = profile_key(config, {3, 2}, 4, 5, {host_device(), host::kernels()});
  EXPECT_EQ(names(key),
            (std::vector<std::string>{"program", "cpu", "node_cores", "node_memory", "kernel",
                                      "isa", "cores", "threads", "node_ranks"}));
  EXPECT_EQ(value(key, "isa"), "portable");
  EXPECT_EQ(value(key, "cores"), "4");
  EXPECT_EQ(value(key, "threads"), "3");
  EXPECT_EQ(value(key, "node_ranks"), "5");
  EXPECT_EQ(value(key, "node_cores"), std::to_string(sysconf(_SC_NPROCESSORS_ONLN)));
  utsname system{};
  ::uname(&system);
  EXPECT_EQ(value(key, "kernel"), std::string(system.sysname) + " " + system.release);
  EXPECT_TRUE(std::regex_match(value(key, "node_memory"), std::regex("[1-9][0-9]*GiB")));
  auto const program = value(key, "program");
  for (std::string_view const part :
       {build::version, build::git_hash, build::compiler, build::flags, build::features})
    EXPECT_NE(program.find(part), program.npos) << part;
}

TEST(ProfileKey, of_a_device_has_its_name_and_the_target_of_its_kernels) {
  DeviceUnderTest on(false);
  if (!on.is_stand_in()) GTEST_SKIP() << "there is no stand-in without CUDA's headers";
  Compute const compute{on.device(), Kernels(host::kernels(), host::kernel, "sm_90")};
  auto const key = profile_key(tiny_config(), {3, 2}, 4, 5, compute);
  EXPECT_EQ(value(key, "isa"), "sm_90");
  EXPECT_EQ(value(key, "device"), on.device().properties().name);
  EXPECT_EQ(value(key, "products"), "none");
}

// Says for which target it is asked.
ProductChoices choose(KernelContext const& context, std::span<Op const> ops,
                      std::string_view device_name, ProductChoices const&) {
  EXPECT_TRUE(ops.empty());
  return {.made_by = std::string(device_name) + ", library for " + context.arithmetic.isa};
}

TEST(ProfileKey, of_a_device_has_the_versions_of_what_computes) {
  DeviceUnderTest on(false);
  if (!on.is_stand_in()) GTEST_SKIP() << "there is no stand-in without CUDA's headers";
  KernelTable const table(host::kernel, host::make_exec, choose);
  auto const properties = on.device().properties();
  auto const key = profile_key(tiny_config(), {3, 2}, 4, 5,
                               {on.device(), Kernels(table, host::kernel, "sm_90")});
  EXPECT_FALSE(properties.software.empty());
  EXPECT_EQ(value(key, "software"), properties.software);
  EXPECT_EQ(value(key, "products"), properties.name + ", library for sm_90");
}

TEST(ProfileKey, of_sources_that_are_not_committed_says_when_files_were_written) {
  auto const file = std::filesystem::path(::testing::TempDir()) / "profile_key.so";
  std::ofstream(file).close();
  auto const at = [&](char const* hash, std::int64_t seconds) {
    std::filesystem::last_write_time(file,
                                     std::filesystem::file_time_type::clock::from_sys(
                                         std::chrono::sys_seconds(std::chrono::seconds(seconds))));
    return when_written(hash, {file, "/no/such/file"});
  };
  EXPECT_EQ(at("1234567-dirty", 1000), ", built 1000.000000000");
  EXPECT_EQ(at("1234567-dirty", 2000), ", built 2000.000000000");
  EXPECT_EQ(at("unknown", 2000), ", built 2000.000000000");
  EXPECT_EQ(at("1234567", 2000), "");
  std::filesystem::remove(file);
}

TEST(ProfileKey, finds_the_file_of_a_module_by_its_code) {
  auto const here = file_of_code(reinterpret_cast<void const*>(&value));
  EXPECT_EQ(std::filesystem::canonical(here), std::filesystem::canonical("/proc/self/exe"));
  auto const elsewhere = file_of_code(::dlsym(RTLD_DEFAULT, "getpid"));
  EXPECT_NE(elsewhere.find("libc"), elsewhere.npos) << elsewhere;
  EXPECT_EQ(file_of_code(&elsewhere), "") << "which is no code";
}

TEST(ProfileKey, of_a_network_and_of_a_drive_say_so_besides) {
  About const key = {{"program", "p"}, {"threads", "2"}};
  About expected = key;
  expected.emplace_back("network", "2 ranks");
  EXPECT_EQ(network_key(key, "2 ranks"), expected);
  Config config;
  config.memory.nvme_paths = std::vector<std::string>{::testing::TempDir()};
  expected = key;
  expected.emplace_back("drive", drive_of(::testing::TempDir()));
  expected.emplace_back("checksums", "true");
  EXPECT_EQ(drive_key(key, config), expected);
  config.spill.checksum = false;
  expected.back().second = "false";
  EXPECT_EQ(drive_key(key, config), expected);
  config.memory.nvme_paths->emplace_back("/proc");
  expected[key.size()].second += ", " + drive_of("/proc");
  EXPECT_EQ(drive_key(key, config), expected);
}

TEST(ProfileKey, of_a_drive_is_where_the_kernel_has_it) {
  struct stat info {};
  auto const directory = std::filesystem::current_path();
  ASSERT_EQ(::stat(directory.c_str(), &info), 0);
  auto const number = std::to_string(major(info.st_dev)) + ":" + std::to_string(minor(info.st_dev));
  EXPECT_TRUE(drive_of(directory).ends_with(number)) << drive_of(directory);
  EXPECT_EQ(drive_of(""), "");
}

TEST(ProfileKey, is_dated_for_people_and_names_the_file_by_its_checksum) {
  About const key = {{"cpu", "one"}};
  auto const about = dated(key);
  ASSERT_EQ(about.size(), 2u);
  EXPECT_EQ(about[0], key[0]);
  EXPECT_EQ(about[1].first, "date");
  EXPECT_TRUE(std::regex_match(about[1].second,
                               std::regex("2[0-9]{3}-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9] "
                                          "UTC")))
      << about[1].second;
  auto const file = ProfileCache("/c").file(key);
  EXPECT_EQ(file.parent_path(), "/c");
  EXPECT_TRUE(
      std::regex_match(file.filename().string(), std::regex(R"(profile-[0-9a-f]{16}\.yaml)")));
  EXPECT_NE(ProfileCache("/c").file({{"cpu", "two"}}), file);
  EXPECT_NE(ProfileCache("/c").file({{"cpx", "one"}}), file);
}

}  // namespace
}  // namespace spillway::test::profile_key_test
