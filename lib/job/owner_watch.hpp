// An OwnerWatch decides from several looks at an owner's file whether the owner is alive. An owner
// renews its file as long as it lives.
#pragma once

#include <optional>
#include <string>

namespace spillway {

struct Look {
  bool is_there = true;
  int error = 0;          // an errno if the file cannot be read now, else 0
  std::string text = {};  // the file's content if it can be read
};

enum class Verdict { lives, gone, removed, unknown };

// A look that fails says nothing about the owner. Texts are compared with the first one that could
// be read, and only a successful look at the end of the watch can show that the owner has not
// renewed the file.
class OwnerWatch {
 public:
  OwnerWatch(Look const& first, double watch_s) : m_watch_s(watch_s), m_end_s(watch_s) {
    if (first.error == 0) m_text = first.text;
  }

  // Evaluates a look `at_s` seconds after the first one. Returns nothing if another look is needed.
  std::optional<Verdict> after(Look const& now, double at_s) {
    if (!now.is_there) return Verdict::removed;
    if (now.error == 0 && !m_text) begin_with(now.text, at_s);
    if (now.error == 0 && now.text != *m_text) return Verdict::lives;
    if (at_s < m_end_s) return std::nullopt;
    return now.error == 0 ? Verdict::gone : Verdict::unknown;
  }

 private:
  void begin_with(std::string const& text, double at_s) {
    m_text = text;
    m_end_s = at_s + m_watch_s;
  }

  std::optional<std::string> m_text;
  double m_watch_s, m_end_s;
};

}  // namespace spillway
