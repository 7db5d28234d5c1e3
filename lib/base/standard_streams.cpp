#include "base/standard_streams.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/printable.hpp"
#include "base/write_all.hpp"

namespace spillway {
namespace {

// Returns the errno of closing a duplicate of `fd`, or 0. Network file systems report a lack of
// space only when a file is closed, but `fd` must stay open.
int error_of_closing(int fd) noexcept {
  int const copy = ::dup(fd);
  return copy >= 0 && ::close(copy) != 0 && errno != EINTR ? errno : 0;
}

constexpr std::string_view kEraseLine = "\r\033[K";

std::mutex live_line_mutex;  // guards the flag, and keeps it true to what was written last
// True while the last line of the terminal on stderr is one that say_live has written.
bool live_line_is_shown = false;

void print(std::string_view text) {
  int error = write_all(STDOUT_FILENO, text);
  if (error == 0) error = error_of_closing(STDOUT_FILENO);
  if (error == 0) return;
  throw Error(Status::storage,
              fmt::format("standard output: cannot be written: {}", error_text(error)));
}

}  // namespace

void prepare_standard_streams() noexcept {
  std::signal(SIGPIPE, SIG_IGN);
  for (int const fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() takes the lowest free descriptor, which is `fd`. O_PATH makes all reads and writes of
    // it fail.
    [[maybe_unused]] int const taken = ::open("/", O_PATH | O_DIRECTORY);
  }
}

void say(std::string_view text) noexcept try {
  auto line = printable(text);
  if (!line.ends_with('\n')) line += '\n';
  std::scoped_lock const lock(live_line_mutex);
  if (std::exchange(live_line_is_shown, false)) line.insert(0, kEraseLine);
  write_all(STDERR_FILENO, line);
} catch (...) {  // there may be no memory for the line, which is then lost
}

void say_live(std::string_view line) noexcept try {
  auto const shown = printable(line);
  std::scoped_lock const lock(live_line_mutex);
  live_line_is_shown = !shown.empty();
  write_all(STDERR_FILENO, std::string(kEraseLine) + shown);
} catch (...) {
}

std::size_t room_for_live_line() noexcept {
  constexpr std::size_t usual_columns = 80;
  winsize window{};
  bool const known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  return (known ? window.ws_col : usual_columns) - 1;
}

void print_result(std::string_view text) {
  print(printable(text));
}

void print_bytes(std::string_view bytes) {
  if (::isatty(STDOUT_FILENO) != 0) return print(printable(bytes));
  print(bytes);
}

}  // namespace spillway
