#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "job/owner.hpp"
#include "job/owner_file.hpp"
#include "tests/support/few_threads.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::train_owner_file_test {
namespace {

namespace fs = std::filesystem;

constexpr OwnerTimes kSoon{.renew_s = 0.02, .watch_s = 0.2};
constexpr OwnerTimes kPatient{.renew_s = 0.02, .watch_s = 1800};  // never reached

class OwnerFileTest : public ::testing::Test {
 protected:
  OwnerFileTest() { fs::create_directories(m_dir); }
  ~OwnerFileTest() override { fs::remove_all(m_dir); }

  void put(std::string const& text) const { std::ofstream(m_file) << text; }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(m_file).rdbuf();
    return text.str();
  }
  // "" when it was taken.
  std::string refusal(OwnerTimes const& times) const {
    try {
      OwnerFile const taken(m_file, times);
      auto const owner = parse_owner(text());
      EXPECT_TRUE(owner && owner->pid == ::getpid()) << text();
      return "";
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::bad_input);
      return error.what();
    }
  }

  fs::path const m_dir = fs::path(::testing::TempDir()) / "spillway-owner-file";
  fs::path const m_file = m_dir / "lock.owner";
};

Owner elsewhere() {
  return {"another", "far.example", 4711, "12"};
}

TEST_F(OwnerFileTest, names_its_owner_and_is_gone_at_the_end) {
  EXPECT_EQ(refusal(kPatient), "");
  EXPECT_FALSE(fs::exists(m_file));
}

TEST_F(OwnerFileTest, of_a_process_that_runs_here_is_refused_at_once) {
  OwnerFile const first(m_file, {.renew_s = 60, .watch_s = 60});
  auto const why = refusal({.renew_s = 60, .watch_s = 60});
  auto const own = this_process();
  EXPECT_NE(
      why.find("another job is running here, pid " + std::to_string(own.pid) + " on " + own.host),
      why.npos)
      << why;
}

TEST_F(OwnerFileTest, of_a_process_that_has_ended_here_is_taken_over_at_once) {
  pid_t const child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  auto owner = this_process();
  owner.pid = child;
  put(to_text(owner));
  EXPECT_EQ(refusal({.renew_s = 0.02, .watch_s = 1e6}), "");
}

TEST_F(OwnerFileTest, of_a_number_that_another_process_has_now_is_taken_over) {
  auto owner = this_process();
  owner.begin = "1";
  put(to_text(owner));
  EXPECT_EQ(refusal({.renew_s = 0.02, .watch_s = 1e6}), "");
}

TEST_F(OwnerFileTest, of_another_machine_is_taken_over_when_nothing_renews_it) {
  for (auto const& text : {to_text(elsewhere()) + "count: 7\n", std::string(), std::string("?")}) {
    put(text);
    EXPECT_EQ(refusal(kSoon), "") << text;
  }
}

TEST_F(OwnerFileTest, of_another_machine_is_refused_while_somebody_renews_it) {
  std::atomic<bool> ends = false;
  put(to_text(elsewhere()) + "count: 1\n");
  std::thread renews([&] {
    for (int i = 2; !ends; ++i) {
      put(to_text(elsewhere()) + "count: " + std::to_string(i) + "\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  auto const why = refusal(kPatient);
  ends = true;
  renews.join();
  EXPECT_NE(why.find("another job is running here, "), why.npos) << why;
  EXPECT_EQ(parse_owner(text())->host, "far.example");
}

TEST_F(OwnerFileTest, that_nobody_could_renew_is_not_left_behind) {
  {
    test::FewThreads const none(0);
    EXPECT_EQ(refusal(kPatient), test::kNoThread);
  }
  EXPECT_FALSE(fs::exists(m_file));
  {
    test::FileSizeLimit const none(0);
    EXPECT_EQ(refusal(kPatient),
              "run.dir: " + m_file.string() + ": cannot be written: File too large");
  }
  EXPECT_FALSE(fs::exists(m_file));
}

TEST_F(OwnerFileTest, is_renewed) {
  OwnerFile const file(m_file, kSoon);
  for (auto const before = text(); text() == before;) std::this_thread::yield();
}

TEST_F(OwnerFileTest, that_another_has_taken_over_is_not_ours_and_is_left_to_it) {
  {
    OwnerFile const file(m_file, kSoon);
    fs::remove(m_file);
    put(to_text(elsewhere()));
    while (file.is_ours()) std::this_thread::yield();
  }
  EXPECT_EQ(text(), to_text(elsewhere()));
}

TEST_F(OwnerFileTest, that_another_has_taken_over_is_known_before_the_next_renewal_to_who_asks) {
  OwnerFile const file(m_file, {.renew_s = 1000, .watch_s = 1});
  EXPECT_TRUE(file.is_ours_now());
  fs::remove(m_file);
  put(to_text(elsewhere()));
  EXPECT_TRUE(file.is_ours());
  EXPECT_FALSE(file.is_ours_now());
}

TEST_F(OwnerFileTest, is_not_made_through_links_and_does_not_wait_for_pipes) {
  std::ofstream(m_dir / "mine") << "kept";
  fs::create_symlink(m_dir / "mine", m_file);
  EXPECT_EQ(refusal(kSoon), "");
  std::ostringstream mine;
  mine << std::ifstream(m_dir / "mine").rdbuf();
  EXPECT_EQ(mine.str(), "kept");
  ASSERT_EQ(::mkfifo(m_file.c_str(), 0600), 0);
  EXPECT_EQ(refusal(kSoon), "");
}

TEST(Owner, comes_back_from_its_text) {
  auto const own = this_process();
  auto const read = parse_owner(to_text(own) + "count: 1\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), to_text(own));
  EXPECT_EQ(runs(*read), std::optional(true));
  EXPECT_EQ(runs(elsewhere()), std::nullopt);
  for (auto const* text : {"", "machine: a\nhost: b\npid: x\nbegin: 1\n", "host: b\npid: 1\n"})
    EXPECT_FALSE(parse_owner(text)) << text;
}

}  // namespace
}  // namespace spillway::train_owner_file_test
