#include "io/file/in_child.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <initializer_list>
#include <optional>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/steady_clock.hpp"
#include "base/write_all.hpp"
#include "io/file/file.hpp"

namespace spillway {
namespace {

constexpr rlim_t kMostProcessor_s = 4;
constexpr double kMostWaiting_s = 120;  // a file system that works needs less
constexpr rlim_t kMostMemory_bytes = rlim_t{2} << 30;

void limit(decltype(RLIMIT_AS) what, rlim_t value, rlim_t most) {
  rlimit now{};
  ::getrlimit(what, &now);
  if (most > now.rlim_max) return;  // the limit is stricter already
  rlimit const wanted{value, most};
  ::setrlimit(what, &wanted);
}

rlim_t address_space_bytes() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// Prepares the child process. It ignores signals that ask a job to stop, since its parent handles
// them, discards what libraries print, and gets limits of processor time and memory.
void limit_this_process() {
  for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(signal, SIG_IGN);
  for (int const signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGXCPU})
    std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);  // the calling thread may block signals
  if (int const null = ::open("/dev/null", O_RDWR); null >= 0)
    for (int const standard : {0, 1, 2}) ::dup2(null, standard);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_CPU, kMostProcessor_s, kMostProcessor_s + 1);
  auto const most_bytes = address_space_bytes() + kMostMemory_bytes;
  limit(RLIMIT_AS, most_bytes, most_bytes);
}

// Runs `work`. Returns one character for the status, and then the text of the result or the error.
std::string answer(std::filesystem::path const& path, std::function<std::string()> const& work) {
  auto const with = [](Status status, std::string const& text) {
    return static_cast<char>(status) + text;
  };
  try {
    return with(Status::done, work());
  } catch (Error const& error) {
    return with(error.status(), error.what());
  } catch (std::exception const& error) {
    return with(Status::damaged, fmt::format("{}: damaged ({})", path.string(), error.what()));
  }
}

// Reads from a pipe until its other end is closed. Returns nothing if that takes longer than
// kMostWaiting_s.
std::optional<std::string> read_all(int from) {
  std::string text;
  std::array<char, 1 << 16> piece;
  auto const begin = SteadyClock::now();
  for (;;) {
    pollfd waits{from, POLLIN, 0};
    if (::poll(&waits, 1, 1000) <= 0) {
      if (seconds_since(begin) > kMostWaiting_s) return {};
      continue;
    }
    auto const got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

[[noreturn]] void fail_here(std::filesystem::path const& path, char const* what) {
  int const error = errno;
  throw Error(Status::storage, fmt::format("{}: {}: {}", path.string(), what, error_text(error)));
}

[[noreturn]] void fail_killed(std::filesystem::path const& path, int signal) {
  constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
  if (signal == SIGXCPU)
    throw Error(Status::damaged, path.string() + ": damaged: reading it comes to no end");
  if (std::ranges::find(crashes, signal) != crashes.end())
    throw Error(Status::damaged, path.string() + ": damaged: reading it crashes");
  throw Error(Status::storage,
              fmt::format("{}: reading it was ended by signal {}", path.string(), signal));
}

}  // namespace

std::string in_child(std::filesystem::path const& path, std::function<std::string()> const& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_here(path, "no pipe to read it through");
  FileDescriptor const from(ends[0]);
  FileDescriptor to(ends[1]);
  pid_t const child = ::fork();
  if (child < 0) fail_here(path, "no process to read it in");
  if (child == 0) {
    limit_this_process();
    write_all(to.get(), answer(path, work));  // fails only if the parent is gone
    ::_exit(0);
  }
  to.reset();
  auto const text = read_all(from.get());
  if (!text) ::kill(child, SIGKILL);
  int const status = wait_for(child);
  if (!text)
    throw Error(Status::storage, fmt::format("{}: reading it waits for ever", path.string()));
  if (WIFSIGNALED(status)) fail_killed(path, WTERMSIG(status));
  if (text->empty()) throw Error(Status::damaged, path.string() + ": damaged: reading it crashes");
  if (text->front() != 0) throw Error(static_cast<Status>(text->front()), text->substr(1));
  return text->substr(1);
}

}  // namespace spillway
