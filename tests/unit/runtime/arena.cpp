#include "device/host/arena.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "base/bf16.hpp"
#include "base/error.hpp"
#include "base/math.hpp"
#include "base/process_memory.hpp"
#include "device/host/host_device.hpp"
#include "runtime/poison.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::arena_test {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
std::string const kNoMemory = std::strerror(ENOMEM);

// What the process has of addresses.
std::int64_t address_bytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

TEST(Arena, is_aligned_for_direct_transfers_and_starts_as_zero) {
  Arena const arena("device", 3 * kMiB + 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.at(0, 1).data()) % Arena::kAlignment, 0u);
  EXPECT_EQ(*arena.at(3 * kMiB, 5).data(), std::byte{0});
  EXPECT_EQ(arena.bytes(), 3 * kMiB + 5);
}

TEST(Arena, committing_more_keeps_addresses_and_bytes) {
  Arena arena("device", kMiB, 64 * kMiB);
  auto* const first = arena.at(0, kMiB).data();
  std::memset(first, 7, kMiB);
  arena.commit(64 * kMiB);
  EXPECT_EQ(arena.at(0, 64 * kMiB).data(), first);
  EXPECT_EQ(first[kMiB - 1], std::byte{7});
  *arena.at(64 * kMiB - 1, 1).data() = std::byte{1};
}

TEST(Arena, committing_less_gives_memory_back) {
  Arena arena("device", 64 * kMiB);
  std::memset(arena.at(0, 64 * kMiB).data(), 7, 64 * kMiB);
  auto const before = process_memory().resident_bytes;
  arena.commit(8 * kMiB);
  EXPECT_LT(process_memory().resident_bytes, before - 40 * kMiB);
}

TEST(Arena, bytes_that_come_back_are_zero_within_a_page_too) {
  Arena arena("device", 10'000);
  std::memset(arena.at(0, 1).data(), 7, 10'000);
  auto const values = [&](std::int64_t first, std::int64_t last) {
    auto const bytes = arena.at(first, last - first);
    return std::set<int>{std::to_integer<int>(bytes.front()), std::to_integer<int>(bytes.back())};
  };
  arena.commit(5000);
  arena.commit(6000);
  EXPECT_EQ(values(0, 5000), std::set<int>{7});
  EXPECT_EQ(values(5000, 6000), std::set<int>{0});
  std::memset(arena.at(5000, 1000).data(), 7, 1000);
  arena.commit(4097);
  arena.commit(10'000);
  EXPECT_EQ(values(0, 4097), std::set<int>{7});
  EXPECT_EQ(values(4097, 8192), std::set<int>{0});
  EXPECT_EQ(values(8192, 10'000), std::set<int>{0});
}

TEST(Arena, reserved_addresses_take_no_memory) {
  auto const before = process_memory().resident_bytes;
  Arena const arena("device", kMiB, std::int64_t{1} << 40);
  EXPECT_LT(process_memory().resident_bytes, before + 8 * kMiB);
}

// A limit on addresses, as batch systems set it.
TEST(Arena, reserves_no_more_than_it_takes_where_addresses_are_few) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a sanitizer takes more addresses";
#endif
  test::ResourceLimit const limit(RLIMIT_AS, rlim_t{1} << 39);
  Arena const arena("device", kMiB, std::int64_t{1} << 40);
  EXPECT_EQ(arena.bytes(), kMiB);
  EXPECT_EQ(*arena.at(kMiB - 1, 1).data(), std::byte{0});
}

TEST(Arena, prefers_a_numa_node) {
  Arena arena("host", kMiB, 16 * kMiB);
  auto* const last = arena.at(0, 1).data() + 16 * kMiB - 1;
  int policy = -1;
  auto const ask = [&] {
    return ::syscall(SYS_get_mempolicy, &policy, nullptr, 0ul, last, MPOL_F_ADDR);
  };
  if (ask() != 0) GTEST_SKIP() << "the system tells no policies: " << std::strerror(errno);
  EXPECT_EQ(policy, MPOL_DEFAULT);
  arena.prefer_numa_node(-1);
  ASSERT_EQ(ask(), 0);
  EXPECT_EQ(policy, MPOL_DEFAULT);
  arena.prefer_numa_node(0);
  ASSERT_EQ(ask(), 0);
  EXPECT_EQ(policy, MPOL_PREFERRED);
}

TEST(Arena, reserves_whole_units_of_its_alignment) {
  EXPECT_EQ(Arena("device", 3 * kMiB + 5).reserved_bytes(), 4 * kMiB);
  EXPECT_EQ(Arena("device", kMiB, 5 * kMiB).reserved_bytes(), 6 * kMiB);
  EXPECT_EQ(Arena("device", 8 * kMiB, 5 * kMiB).reserved_bytes(), 8 * kMiB);
  EXPECT_EQ(Arena("device", 0).reserved_bytes(), 0);
  EXPECT_EQ(Arena("device", 0).pages().size(), 0u);
  auto const page_bytes = std::int64_t{::sysconf(_SC_PAGESIZE)};
  EXPECT_EQ(std::ssize(Arena("device", 5000).pages()), round_up<std::int64_t>(5000, page_bytes));
  EXPECT_EQ(Arena::whole_pages(page_bytes + 1), 2 * page_bytes);
  EXPECT_EQ(Arena("device", 5000).all().size(), 5000u);
}

// More than there are, all together.
TEST(Arena, gives_its_addresses_back) {
  constexpr std::int64_t tib = std::int64_t{1} << 40;
  auto const reserved = [] { return Arena("device", kMiB, tib).reserved_bytes(); };
  auto const first = reserved();
  for (int i = 0; i < 300; ++i) ASSERT_EQ(reserved(), first) << i;
}

TEST(Arena, that_cannot_be_committed_says_so_and_gives_its_addresses_back) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a sanitizer has more data";
#endif
  constexpr std::int64_t most = std::int64_t{1} << 38;
  auto const before = address_bytes();
  test::ResourceLimit const limit(RLIMIT_DATA, static_cast<rlim_t>(most));
  try {
    Arena const arena("host memory", 2 * most);
    GTEST_SKIP() << "the system does not keep to limits of data";
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::cannot_fit);
    EXPECT_EQ(error.what(), "host memory: the system does not give 512 GiB: " + kNoMemory);
  }
  EXPECT_LT(address_bytes(), before + most);
}

TEST(ArenaDeathTest, bytes_that_were_given_back_trap_and_are_zero_when_they_come_back) {
  Arena arena("device", 16 * kMiB);
  auto* const at = arena.at(0, 1).data();
  std::memset(at, 7, 16 * kMiB);
  arena.commit(kMiB);
  EXPECT_EQ(at[kMiB - 1], std::byte{7});
  EXPECT_DEATH(*static_cast<std::byte volatile*>(at + kMiB) = std::byte{1}, "");
  EXPECT_DEATH(*static_cast<std::byte volatile*>(at + 16 * kMiB - 1) = std::byte{1}, "");
  arena.commit(16 * kMiB);
  EXPECT_EQ(at[kMiB - 1], std::byte{7});
  EXPECT_EQ(at[kMiB], std::byte{0});
  EXPECT_EQ(at[16 * kMiB - 1], std::byte{0});
}

TEST(ArenaDeathTest, bytes_that_are_not_committed_trap) {
  Arena const arena("device", kMiB, 16 * kMiB);
  auto* const beyond = arena.at(0, 1).data() + 2 * kMiB;
  EXPECT_DEATH(*static_cast<std::byte volatile*>(beyond) = std::byte{1}, "");
}

TEST(Arena, bytes_beyond_its_end_are_refused_by_name) {
  Arena arena("host memory", kMiB, 2 * kMiB);
  EXPECT_EQ(arena.at(kMiB - 8, 8).size(), 8u);
  for (auto const& [offset, bytes] :
       {std::pair{kMiB - 8, std::int64_t{9}}, {std::int64_t{-1}, std::int64_t{1}}, {kMiB, -8}})
    EXPECT_EQ(test::mistake([&] { arena.at(offset, bytes); }),
              "host memory: bytes beyond its end are asked for");
  EXPECT_EQ(test::mistake([&] { arena.commit(3 * kMiB); }),
            "host memory: grows beyond its addresses");
}

TEST(Arena, more_than_the_address_space_is_refused_by_name) {
  try {
    Arena const arena("memory.device", std::int64_t{1} << 60);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::cannot_fit);
    EXPECT_EQ(error.what(), "memory.device: the system does not give 1024 PiB: " + kNoMemory);
  }
}

TEST(Poison, is_not_a_number_in_every_floating_point_type) {
  std::byte bytes[8];
  fill_with_nan(host_device(), HostBytes(bytes));
  float f = 0;
  double d = 0;
  bf16 b{};
  std::memcpy(&f, bytes, sizeof f);
  std::memcpy(&d, bytes, sizeof d);
  std::memcpy(&b, bytes, sizeof b);
  EXPECT_TRUE(std::isnan(f));
  EXPECT_TRUE(std::isnan(d));
  EXPECT_TRUE(std::isnan(to_float(b)));
}

}  // namespace
}  // namespace spillway::arena_test
