// A Partial is removed together with the object that owns it, or when a signal ends the process,
// unless it has got its final name before.
#pragma once

#include <filesystem>
#include <functional>

namespace spillway {

// A Partial is a file that is being written, or a directory with all that is put into it.
class Partial {
 public:
  // `make` creates the file or directory and returns its path, or throws. A signal that comes while
  // `make` runs ends the process when `make` has returned, or after 5 s.
  explicit Partial(std::function<std::filesystem::path()> const& make);
  Partial(Partial const&) = delete;
  Partial& operator=(Partial const&) = delete;
  ~Partial();

  std::filesystem::path const& path() const { return m_path; }
  // Calls `rename`, which gives the Partial its final name. If `rename` throws, the file or
  // directory is still removed when the Partial is destroyed.
  void publish(std::function<void()> const& rename);

 private:
  void forget();

  std::filesystem::path m_path;
  bool m_published = false;
};

// Call this on the main thread before others start. It starts a thread that waits for signals that
// end a command (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGXCPU), removes every
// Partial and ends the process by that signal. Ignored signals stay ignored. SIGXFSZ is ignored, so
// a call that makes a file larger than its limit fails.
void end_on_signals_without_partials();

}  // namespace spillway
