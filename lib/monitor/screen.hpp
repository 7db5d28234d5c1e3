// A Screen draws frames of text on the terminal of stdout, in place of what is there.
#pragma once

#include <termios.h>

#include <string>
#include <vector>

#include "base/input_file.hpp"
#include "monitor/top_frame.hpp"

namespace spillway {

// Returns whether the user's terminal shows characters beyond ASCII, as the environment says.
bool shows_unicode();

// From its constructor to its destructor, a Screen takes the terminal: keys are not shown, and what
// was on it comes back at the end. Signals that end a program or stop it are taken meanwhile, so
// that none leaves the terminal in another state than before. It must be made on the only thread.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(Screen const&) = delete;
  Screen& operator=(Screen const&) = delete;

  Window window() const;
  // Throws Error(storage) if the terminal is gone.
  void draw(std::vector<std::string> const& lines);
  // Waits for so many seconds, or until the window has another size. Returns false if the user has
  // pressed `q` or Ctrl-C, or if a signal asks for the end.
  bool wait(double seconds);

 private:
  void enter();
  void leave() noexcept;
  bool take_signal();
  bool take_keys();

  termios m_before{};
  bool m_has_keys;  // whether stdin is the terminal
  FileDescriptor m_signals;
};

}  // namespace spillway
