#include "base/affinity.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace spillway::affinity_test {
namespace {

// As Linux tells it on a machine of `count` cores, of which a thread may use some.
TellAffinity machine(std::size_t count, std::vector<int> const& allowed) {
  return [=](std::size_t bytes, cpu_set_t* set) {
    if (8 * bytes < count) return EINVAL;
    std::memset(set, 0, bytes);
    for (auto const core : allowed) CPU_SET_S(static_cast<std::size_t>(core), bytes, set);
    return 0;
  };
}

TEST(AllowedCores, are_told_of_machines_of_any_size) {
  using Cores = std::vector<int>;
  EXPECT_EQ(allowed_cores(machine(8, {0, 3, 7})), (Cores{0, 3, 7}));
  EXPECT_EQ(allowed_cores(machine(1024, {0, 1023})), (Cores{0, 1023}));
  EXPECT_EQ(allowed_cores(machine(1025, {5, 1024})), (Cores{5, 1024}));
  EXPECT_EQ(allowed_cores(machine(8192, {63, 64, 8191})), (Cores{63, 64, 8191}));
}

TEST(AllowedCores, are_none_where_the_system_does_not_tell) {
  EXPECT_EQ(allowed_cores([](std::size_t, cpu_set_t*) { return EPERM; }), std::vector<int>{});
  EXPECT_EQ(allowed_cores([](std::size_t, cpu_set_t*) { return EINVAL; }), std::vector<int>{});
}

TEST(AllowedCores, are_those_that_a_thread_stays_on) {
  auto const all = allowed_cores();
  ASSERT_FALSE(all.empty());
  std::thread([&] {
    stay_on(std::vector{all.back(), 1'000'000});  // which no machine has
    EXPECT_EQ(allowed_cores(), std::vector{all.back()});
    stay_on({});
    EXPECT_EQ(allowed_cores(), std::vector{all.back()});
  }).join();
  EXPECT_EQ(allowed_cores(), all);
}

}  // namespace
}  // namespace spillway::affinity_test
