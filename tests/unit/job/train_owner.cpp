// Who owns a run directory without flock: what its file says, and what is said of it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/error.hpp"
#include "base/steady_clock.hpp"
#include "job/owner.hpp"
#include "job/owner_file.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::train_owner_test {
namespace {

namespace fs = std::filesystem;

// A child that waits, whose name looks like other fields of what the system says of it.
class Child {
 public:
  Child() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    m_pid = ::fork();
    if (m_pid == 0) {
      ::prctl(PR_SET_NAME, "a) Z 1 (b) S 2");
      auto const text = to_text(this_process());
      [[maybe_unused]] auto const written = ::write(ends[1], text.data(), text.size());
      ::close(ends[1]);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char part[512];
    for (ssize_t size = 0; (size = ::read(ends[0], part, sizeof part)) > 0;)
      m_text.append(part, static_cast<std::size_t>(size));
    ::close(ends[0]);
  }
  // Ends it, and leaves it to be waited for.
  void end() const {
    ::kill(m_pid, SIGKILL);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(m_pid), &info, WEXITED | WNOWAIT);
  }
  void forget() const { ::waitpid(m_pid, nullptr, 0); }

  Owner owner() const { return parse_owner(m_text).value(); }
  pid_t pid() const { return m_pid; }

 private:
  pid_t m_pid = 0;
  std::string m_text;
};

TEST(OwnerOfAFile, runs_until_it_has_ended_whatever_its_name_is) {
  Child const child;
  auto const owner = child.owner();
  auto const own = this_process();
  EXPECT_EQ(owner.pid, child.pid());
  EXPECT_EQ(owner.machine, own.machine);
  EXPECT_EQ(owner.host, own.host);
  EXPECT_FALSE(owner.begin.empty());
  EXPECT_EQ(owner.begin.find_first_not_of("0123456789"), std::string::npos) << owner.begin;
  EXPECT_GE(std::stoll(owner.begin), std::stoll(own.begin));
  EXPECT_EQ(runs(owner), std::optional(true));
  auto other = owner;
  other.begin = std::to_string(std::stoll(owner.begin) + 1);
  EXPECT_EQ(runs(other), std::optional(false));
  other.begin = "";
  EXPECT_EQ(runs(other), std::nullopt) << "it may be any";
  child.end();
  EXPECT_EQ(runs(owner), std::optional(false)) << "it is only waited for";
  child.forget();
  EXPECT_EQ(runs(owner), std::optional(false));
}

TEST(OwnerOfAFile, is_told_apart_by_its_boot_and_its_container_and_named_by_its_host) {
  auto const own = this_process();
  auto const line = [](char const* path) {
    std::string text;
    std::getline(std::ifstream(path), text);
    return text;
  };
  EXPECT_EQ(own.machine, line("/proc/sys/kernel/random/boot_id") + " " +
                             fs::read_symlink("/proc/self/ns/pid").string());
  EXPECT_EQ(own.host, line("/proc/sys/kernel/hostname"));
  EXPECT_EQ(own.pid, ::getpid());
}

// The clock's ticks are of 10 ms.
TEST(OwnerOfAFile, began_before_those_that_were_started_later) {
  Child const first;
  for (auto const begin = SteadyClock::now(); seconds_since(begin) < 0.1;)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  Child const second;
  EXPECT_LT(std::stoll(first.owner().begin), std::stoll(second.owner().begin));
  for (auto const* child : {&first, &second}) {
    child->end();
    child->forget();
  }
}

TEST(OwnerOfAFile, is_named_by_whole_lines) {
  std::string const whole = "machine: m 1\nhost: h\npid: 17\nbegin: 5\n";
  auto const owner = parse_owner(whole + "count: 3\n");
  ASSERT_TRUE(owner);
  EXPECT_EQ(to_text(*owner), whole);
  EXPECT_EQ(owner->machine, "m 1");
  EXPECT_EQ(owner->host, "h");
  EXPECT_EQ(owner->pid, 17);
  EXPECT_EQ(owner->begin, "5");
  EXPECT_FALSE(parse_owner(whole.substr(0, whole.size() - 1))) << "the last may be cut short";
  EXPECT_FALSE(parse_owner("x" + whole));
  for (auto const* key : {"machine: ", "host: ", "pid: ", "begin: "}) {
    auto text = whole;
    EXPECT_FALSE(parse_owner(text.erase(text.find(key), 1))) << key;
  }
}

class OwnerFileSays : public ::testing::Test {
 protected:
  ~OwnerFileSays() override { fs::remove(m_file); }
  // What was said when a file with this text was taken, and the text of the one that took it.
  std::pair<std::string, std::string> taken(std::string const& text) {
    std::ofstream(m_file) << text;
    m_log.taken();
    OwnerFile const file(m_file, {.renew_s = 0.02, .watch_s = 0.1});
    std::ostringstream now;
    now << std::ifstream(m_file).rdbuf();
    return {m_log.taken(), now.str()};
  }

  test::CapturedLog m_log;
  fs::path const m_file = fs::path(::testing::TempDir()) / "spillway-owner-says";
};

TEST_F(OwnerFileSays, whom_it_watched_and_whose_place_it_takes) {
  auto const [said, text] = taken("machine: m\nhost: far.example\npid: 4711\nbegin: 5\n");
  EXPECT_EQ(said, fmt::format("info: {0}: says that pid 4711 on far.example runs here; watched for "
                              "0 s\nwarning: {0}: left behind by pid 4711 on far.example, which "
                              "has ended; taken over\n",
                              m_file.string()));
  auto const own = to_text(this_process());
  ASSERT_TRUE(text.starts_with(own)) << text;
  auto const count = text.substr(own.size());
  EXPECT_EQ(count.size(), std::string("count: 000000000001\n").size()) << "it never grows";
  EXPECT_TRUE(count.starts_with("count: 0000000000")) << count;
  EXPECT_TRUE(count.ends_with("\n")) << count;
}

TEST_F(OwnerFileSays, that_it_knows_no_owner) {
  auto const [said, text] = taken("pid: 4711\n");
  EXPECT_EQ(said, fmt::format("info: {0}: says that one that it does not name runs here; watched "
                              "for 0 s\nwarning: {0}: left behind by one that it does not name, "
                              "which has ended; taken over\n",
                              m_file.string()));
}

// Nobody has ended then: it was given back.
TEST_F(OwnerFileSays, nothing_of_an_end_where_the_file_goes_while_it_is_watched) {
  std::ofstream(m_file) << "machine: m\nhost: far.example\npid: 4711\nbegin: 5\n";
  std::thread owner([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    fs::remove(m_file);
  });
  OwnerFile const file(m_file, {.renew_s = 0.02, .watch_s = 1e6});
  owner.join();
  EXPECT_TRUE(file.is_ours_now());
  EXPECT_EQ(m_log.taken().find("left behind"), std::string::npos);
}

// Of its own memory, which begins elsewhere, a process can read no first byte.
TEST_F(OwnerFileSays, that_it_cannot_be_read) {
  fs::path const memory = "/proc/self/mem";
  EXPECT_EQ(
      test::refused_with([&] { OwnerFile const file(memory, {.renew_s = 0.02, .watch_s = 0.1}); }),
      "run.dir: /proc/self/mem: cannot be read: Input/output error; another job may be running "
      "here: if none is, remove this file");
}

TEST_F(OwnerFileSays, why_it_cannot_be_made) {
  auto const none = fs::path(::testing::TempDir()) / "spillway-no-directory" / "lock.owner";
  EXPECT_EQ(test::refused_with([&] { OwnerFile const file(none); }),
            "run.dir: " + none.string() + ": cannot be created: No such file or directory");
  test::FileSizeLimit const limit(0);
  EXPECT_EQ(test::refused_with([&] { OwnerFile const file(m_file); }),
            "run.dir: " + m_file.string() + ": cannot be written: File too large");
  EXPECT_FALSE(fs::exists(m_file)) << "the next job would watch it in vain";
}

}  // namespace
}  // namespace spillway::train_owner_test
