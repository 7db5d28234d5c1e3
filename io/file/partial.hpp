// What is written and has no name of its own yet: it goes with whoever writes it, and with a
// process that a signal ends.
#pragma once

#include <filesystem>
#include <functional>

namespace spillway {

// A file or a directory, with all that is put into it.
class Partial {
 public:
  // `make` creates it and returns its path, which no signal comes between; it throws instead.
  explicit Partial(std::function<std::filesystem::path()> const& make);
  Partial(Partial const&) = delete;
  Partial& operator=(Partial const&) = delete;
  ~Partial();

  std::filesystem::path const& path() const { return m_path; }
  // `rename` gives it another name, under which it stays; if that throws, it is partial still.
  void publish(std::function<void()> const& rename);

 private:
  void forget();

  std::filesystem::path m_path;
  bool m_published = false;
};

// Call this on the main thread before others start: a thread of its own waits for the signals that
// end a command (SIGINT, SIGTERM, SIGHUP, ...), removes every Partial and ends the process by that
// signal. A file beyond its limit (SIGXFSZ) is an error of the call that writes it.
void end_on_signals_without_partials();

}  // namespace spillway
