// Those who own a resource of the system give it back once, whoever has it last.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/pages.hpp"
#include "base/unique_handle.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::owners_test {
namespace {

std::vector<int> g_closed;
void close_number(int number) {
  g_closed.push_back(number);
}
using Handle = UniqueHandle<int, close_number, -1>;

TEST(UniqueHandle, closes_what_it_has_once_and_what_is_none_never) {
  g_closed.clear();
  {
    Handle none, one(1), two(2), three(3);
    EXPECT_FALSE(none);
    EXPECT_TRUE(one);
    EXPECT_EQ(two.release(), 2);
    EXPECT_EQ(two.get(), -1);
    three.reset();
    EXPECT_FALSE(three);
    EXPECT_EQ(g_closed, std::vector{3});
    Handle const other(std::move(one));
    EXPECT_EQ(other.get(), 1);
  }
  EXPECT_EQ(g_closed, (std::vector{3, 1}));
}

TEST(UniqueHandle, that_gets_another_one_keeps_the_old_one_open_no_longer_than_its_giver_lives) {
  g_closed.clear();
  Handle here(1);
  {
    Handle there(2);
    here = std::move(there);
    EXPECT_EQ(here.get(), 2);
  }
  EXPECT_EQ(g_closed, std::vector{1});
}

std::int64_t address_space_pages() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST(Pages, are_zero_whole_and_where_a_huge_page_begins_if_they_are_as_large) {
  for (std::size_t const bytes : {std::size_t{1}, std::size_t{5000}, (std::size_t{2} << 20) - 1,
                                  std::size_t{2} << 20, (std::size_t{5} << 20) + 3}) {
    Pages const pages(bytes);
    EXPECT_EQ(pages.all().size(), bytes);
    EXPECT_EQ(pages.all().data(), pages.data());
    auto const alignment = bytes < std::size_t{2} << 20 ? 4096u : 2u << 20;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages.data()) % alignment, 0u) << bytes;
    EXPECT_EQ(std::ranges::count(pages.all(), std::byte{0}), std::ssize(pages.all()));
    std::memset(pages.data(), 1, bytes);
  }
  EXPECT_TRUE(Pages(0).all().empty());
}

TEST(Pages, are_all_there_from_the_beginning) {
  for (std::size_t const count : {1u, 3u, 255u}) {
    Pages const pages(count * 4096 - 1);
    std::vector<unsigned char> resident(count);
    ASSERT_EQ(::mincore(pages.data(), count * 4096, resident.data()), 0);
    EXPECT_EQ(std::ranges::count_if(resident, [](auto page) { return (page & 1) != 0; }),
              std::ssize(resident));
  }
}

TEST(Pages, that_the_system_does_not_give_say_what_they_were_for) {
  EXPECT_EQ(
      test::refused_with([] { Pages(std::size_t{1} << 60, "memory for all"); }, Status::cannot_fit),
      "memory for all: the system does not give 1024 PiB: Cannot allocate memory");
}

TEST(Pages, go_back_to_the_system_with_whoever_has_them_last) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  auto const before = address_space_pages();
  {
    Pages first(bytes), second(4096);
    auto* const data = first.data();
    second = std::move(first);
    EXPECT_EQ(second.data(), data);
    Pages const third(std::move(second));
    EXPECT_EQ(third.data(), data);
    EXPECT_TRUE(second.all().empty());
    EXPECT_GE(address_space_pages() - before, static_cast<std::int64_t>(bytes / 4096));
  }
  EXPECT_LT(address_space_pages() - before, static_cast<std::int64_t>(bytes / 4096 / 2));
}

}  // namespace
}  // namespace spillway::owners_test
