#include "io/gnuplot/gnuplot.hpp"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <span>

#include "base/error_text.hpp"
#include "io/file/file.hpp"

extern char** environ;

namespace spillway {
namespace {

// The message names the packages of gnuplot that cmake/packages.txt lists.
constexpr auto kMissing =
    "gnuplot is not installed (apt: gnuplot-nox, dnf: gnuplot, Spack: gnuplot)";

FileDescriptor memory_file() {
  return FileDescriptor(::memfd_create("spillway-chart", MFD_CLOEXEC));
}

// `status` is gnuplot's exit status, or -1 if a signal ended it or it did not start. `error` is 0,
// or the errno that says why gnuplot could not be started or waited for.
struct Ending {
  int status = -1, error = 0;
};

// Lets gnuplot start with no blocked signals, so that Ctrl-C ends it although this process blocks
// SIGINT.
posix_spawnattr_t plain_signals() {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, ignored;
  sigemptyset(&none);
  sigemptyset(&ignored);
  for (int const signal : {SIGPIPE, SIGXFSZ}) sigaddset(&ignored, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  return attributes;
}

Ending run_gnuplot(FileDescriptor const& input, FileDescriptor const& output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  std::string program = "gnuplot", plain = "-d";  // -d ignores a user's own settings
  std::array<char*, 3> arguments = {program.data(), plain.data(), nullptr};
  pid_t child = -1;
  auto attributes = plain_signals();
  int const error =
      posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return {-1, error};
  int ended = 0;
  while (::waitpid(child, &ended, 0) < 0) {
    if (errno != EINTR) return {-1, errno};
  }
  return {WIFEXITED(ended) ? WEXITSTATUS(ended) : -1, 0};
}

std::string contents(FileDescriptor const& file) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return "";
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  auto const read = read_fully(file.get(), std::as_writable_bytes(std::span(text)), 0);
  return read.error == 0 ? text : "";
}

}  // namespace

Drawing draw(std::string const& script) {
  auto const input = memory_file(), output = memory_file();
  if (!input || !output) return {"", "no memory for a chart: " + error_text(errno)};
  auto const written = write_fully(input.get(), std::as_bytes(std::span(script)), 0);
  if (written.error != 0) return {"", "no memory for a chart: " + error_text(written.error)};
  auto const ending = run_gnuplot(input, output);
  if (ending.error == ENOENT) return {"", kMissing};
  if (ending.error != 0) return {"", "gnuplot does not start: " + error_text(ending.error)};
  if (ending.status != 0) return {"", fmt::format("gnuplot failed (status {})", ending.status)};
  auto picture = contents(output);
  if (picture.empty()) return {"", "gnuplot drew nothing"};
  return {std::move(picture), ""};
}

}  // namespace spillway
