#include "monitor/screen.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/write_all.hpp"

namespace spillway {
namespace {

// What terminals obey: a second screen, the cursor, its place, and the rest of a line or of all.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l", kLeave = "\033[?25h\033[?1049l";
constexpr std::string_view kHome = "\033[H", kEndOfLine = "\033[K", kEndOfScreen = "\033[J";

sigset_t taken_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH})
    sigaddset(&signals, signal);
  return signals;
}

}  // namespace

bool shows_unicode() {
  for (auto const* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    auto const* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string_view const text = value;
    return text.find("UTF-8") != text.npos || text.find("utf8") != text.npos;
  }
  return false;
}

Screen::Screen() : m_has_keys(::tcgetattr(STDIN_FILENO, &m_before) == 0) {
  auto const signals = taken_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  m_signals = FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  enter();
}

// The signals stay blocked: what came too late must not end the program before its own end.
Screen::~Screen() {
  leave();
}

void Screen::enter() {
  write_all(STDOUT_FILENO, kEnter);
  if (!m_has_keys) return;
  auto quiet = m_before;
  quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  quiet.c_cc[VMIN] = 0;
  quiet.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &quiet);
}

void Screen::leave() noexcept {
  if (m_has_keys) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &m_before);
  write_all(STDOUT_FILENO, kLeave);
}

Window Screen::window() const {
  winsize size{};
  bool const known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  Window window;
  window.unicode = shows_unicode();
  if (known) window.columns = size.ws_col;
  if (known && size.ws_row > 0) window.rows = size.ws_row;
  return window;
}

void Screen::draw(std::vector<std::string> const& lines) {
  std::string text(kHome);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i];
    text += kEndOfLine;
    if (i + 1 < lines.size()) text += "\r\n";
  }
  text += kEndOfScreen;
  int const error = write_all(STDOUT_FILENO, text);
  if (error != 0)
    throw Error(Status::storage,
                fmt::format("the terminal cannot be written: {}", error_text(error)));
}

bool Screen::take_signal() {
  signalfd_siginfo info{};
  if (::read(m_signals.get(), &info, sizeof info) != sizeof info) return true;
  if (info.ssi_signo == SIGWINCH) return true;
  if (info.ssi_signo != SIGTSTP) return false;
  leave();
  ::raise(SIGSTOP);  // goes on here when the user's shell says so
  enter();
  return true;
}

bool Screen::take_keys() {
  std::array<char, 64> keys{};
  auto const got = ::read(STDIN_FILENO, keys.data(), keys.size());
  if (got <= 0) {  // the terminal is gone, or stdin has ended
    m_has_keys = m_has_keys && got < 0;
    return true;
  }
  return std::string_view(keys.data(), static_cast<std::size_t>(got)).find('q') ==
         std::string_view::npos;
}

bool Screen::wait(double seconds) {
  std::array<pollfd, 2> watched{pollfd{m_signals.get(), POLLIN, 0},
                                pollfd{m_has_keys ? STDIN_FILENO : -1, POLLIN, 0}};
  if (::poll(watched.data(), watched.size(), static_cast<int>(1e3 * seconds)) <= 0) return true;
  if (watched[0].revents != 0 && !take_signal()) return false;
  return watched[1].revents == 0 || take_keys();
}

}  // namespace spillway
