// What looks at an owner's file, one after another, say of the owner: one that lives renews it.
#pragma once

#include <optional>
#include <string>

namespace spillway {

struct Look {
  bool is_there = true;
  int error = 0;          // why it cannot be read now
  std::string text = {};  // if it can
};

enum class Verdict { lives, gone, removed, unknown };

// What cannot be read is neither a change nor the same: texts are compared with the first that was
// read, and only who reads the file at the end knows that nobody has renewed it.
class OwnerWatch {
 public:
  OwnerWatch(Look const& first, double watch_s) : m_watch_s(watch_s), m_end_s(watch_s) {
    if (first.error == 0) m_text = first.text;
  }

  // Of a look so many seconds after the first; empty: another one is needed.
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
