// Modules that cannot be used are refused with the reason, and one of this build is connected.
#include "run/device_module.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <utility>

#include "run/module_build.hpp"
#include "tests/support/in_directory.hpp"

namespace spillway::device_module_test {
namespace {

using DeviceModules = test::InDirectory;

std::string trouble(std::string const& path) {
  auto const found = open_device_module(path);
  EXPECT_EQ(found.backend, nullptr);
  EXPECT_EQ(why_no_device(found), found.trouble);
  return found.trouble;
}

TEST_F(DeviceModules, that_are_not_there_make_a_program_for_cpus) {
  EXPECT_EQ(trouble(m_dir / "spillway_cuda.so"),
            "this spillway is built for CPUs; give cpu, or a build for GPUs");
}

TEST_F(DeviceModules, that_do_not_open_say_why) {
  auto const path = m_dir / "torn.so";
  std::ofstream(path) << "no library";
  EXPECT_EQ(trouble(path), "its module does not open: " + path.string() + ": file too short");
}

constexpr DeviceDriver kNone{"libnosuchdriver.so.1", "/no/such/device"};

TEST_F(DeviceModules, are_not_opened_without_their_driver) {
  EXPECT_EQ(open_device_module(SPILLWAY_OLD_MODULE, &kNone).trouble,
            "there is no driver: libnosuchdriver.so.1: cannot open shared object file: No such "
            "file or directory");
}

// Where a driver is and the module of no use, somebody should be told.
TEST_F(DeviceModules, know_whether_there_is_a_driver) {
  constexpr DeviceDriver loaded{"libnosuchdriver.so.1", "/dev/null"},
      opens{SPILLWAY_STRANGE_MODULE, "/no/such/device"};
  EXPECT_FALSE(open_device_module(SPILLWAY_OLD_MODULE, &kNone).has_driver);
  EXPECT_TRUE(open_device_module(SPILLWAY_OLD_MODULE, &loaded).has_driver);
  auto const found = open_device_module(SPILLWAY_OLD_MODULE, &opens);
  EXPECT_TRUE(found.has_driver);
  EXPECT_NE(found.trouble.find(" is of another build "), std::string::npos) << found.trouble;
  EXPECT_TRUE(open_device_module(SPILLWAY_TOY_MODULE, &opens).has_driver);
  EXPECT_FALSE(open_device_module(m_dir / "spillway_cuda.so", &opens).has_driver)
      << "without a module nobody expects a device";
}

TEST_F(DeviceModules, of_somebody_else_are_named) {
  EXPECT_EQ(trouble(SPILLWAY_STRANGE_MODULE), SPILLWAY_STRANGE_MODULE " is no module of spillway");
}

TEST_F(DeviceModules, of_another_build_are_refused_with_both_builds) {
  EXPECT_EQ(trouble(SPILLWAY_OLD_MODULE),
            SPILLWAY_OLD_MODULE
                " is of another build (0.0.1 of yesterday, GNU 1.0; this program: " +
                module_build() + "): install both from one");
}

#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG)
TEST_F(DeviceModules, compiled_with_flags_that_change_objects_are_refused) {
  auto const said = trouble(SPILLWAY_FLAGS_MODULE);
  EXPECT_NE(said.find(" is of another build (" + module_build() + " with _GLIBCXX_DEBUG;"),
            std::string::npos)
      << said;
}
#endif

TEST_F(DeviceModules, of_this_build_know_the_program) {
  auto const found = open_device_module(SPILLWAY_TOY_MODULE);
  ASSERT_NE(found.backend, nullptr) << found.trouble;
  EXPECT_EQ(found.backend->name, "toy");
  set_up_log(true);
  testing::internal::CaptureStderr();
  EXPECT_EQ(why_no_device(found), "toys have none");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("a toy was asked"), std::string::npos)
      << "what a module says must come through the program's log";
  t_allocator_locked = true;
  auto const count = count_devices(found.backend);
  auto const after = std::exchange(t_allocator_locked, false);
  EXPECT_EQ(count, 0) << "a pass of the module must open the program's lock";
  EXPECT_TRUE(after);
}

}  // namespace
}  // namespace spillway::device_module_test
