// Collects the messages with which the program refuses something, to compare them with a file in
// tests/goldens.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "tests/support/frozen.hpp"

namespace spillway::test {

class Refusals {
 public:
  // Messages name paths below `directory`. The path of `directory` itself is removed from them, so
  // that they are the same wherever tests run.
  explicit Refusals(std::filesystem::path const& directory) : m_directory(directory.string()) {}

  // Adds `what` and how `action` ends: "done" if it returns, the status and the text of an Error,
  // or the text of another std::exception.
  template <class F>
  void add(std::string const& what, F const& action) {
    try {
      action();
      say(what, "done");
    } catch (Error const& error) {
      say(what, fmt::format("{}: {}", static_cast<int>(error.status()), error.what()));
    } catch (std::exception const& error) {
      say(what, error.what());
    }
  }
  void say(std::string const& what, std::string line) {
    for (auto at = line.find(m_directory); at != line.npos; at = line.find(m_directory))
      line.erase(at, m_directory.size());
    line.resize(std::min(line.size(), kMostBytes));
    for (auto at = line.find('\n'); at != line.npos; at = line.find('\n', at + 1))
      line.insert(at + 1, "  ");
    auto block = fmt::format("{}\n  {}\n", what, line.empty() ? "nothing" : line);
    for (auto at = block.find(" \n"); at != block.npos; at = block.find(" \n")) block.erase(at, 1);
    m_text += block;
  }

  std::string const& text() const { return m_text; }
  void expect_frozen(char const* name) const {
    test::expect_frozen(fmt::format("refusals_{}.txt", name), m_text);
  }

 private:
  static constexpr std::size_t kMostBytes = 1000;  // a longer message is cut off

  std::string m_directory, m_text;
};

}  // namespace spillway::test
