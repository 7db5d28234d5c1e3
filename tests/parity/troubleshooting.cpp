// docs/troubleshooting.md speaks of messages that the program has, and of every exit status.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "base/error.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::troubleshooting_test {
namespace {

namespace fs = std::filesystem;
fs::path const kSource = SPILLWAY_SOURCE_DIR;

std::string text_of(fs::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string page() {
  auto const text = text_of(kSource / "docs/troubleshooting.md");
  return text.substr(0, text.find("## Slow, and no message"));
}

// The texts of all sources, each in one piece, however many lines it takes.
std::string texts_of_the_program() {
  std::string all;
  for (auto const* folder : {"app", "lib", "io", "modules"})
    for (auto const& entry : fs::recursive_directory_iterator(kSource / folder))
      if (auto const kind = entry.path().extension().string();
          kind == ".cpp" || kind == ".hpp" || kind == ".cu")
        all += text_of(entry.path());
  all = std::regex_replace(all, std::regex("\"\\s*\\n\\s*\""), "");
  return std::regex_replace(all, std::regex("\\{[^{}\\n]{0,8}\\}"), "…");
}

// What stands between "…" is fixed.
std::vector<std::string> fixed_parts(std::string const& message) {
  std::vector<std::string> parts;
  std::regex const gap("…");
  std::sregex_token_iterator at(message.begin(), message.end(), gap, -1), end;
  for (; at != end; ++at)
    if (at->length() > 3) parts.push_back(*at);
  return parts;
}

TEST(Troubleshooting, names_messages_that_the_program_has) {
  auto const texts = texts_of_the_program();
  auto const text = page();
  std::regex const first_column("\\n\\| `(.+?)` \\|");
  int messages = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), first_column), end; at != end; ++at) {
    ++messages;
    for (auto const& part : fixed_parts((*at)[1]))
      EXPECT_NE(texts.find(part), texts.npos) << "no message has: " << part;
  }
  EXPECT_GT(messages, 40);
}

TEST(Troubleshooting, names_every_exit_status) {
  auto const text = page();
  auto const statuses = text_of(kSource / "lib/base/error.hpp");
  std::regex const value("\\n  [a-z_]+ = ([0-9]+),");
  int count = 0;
  for (std::sregex_iterator at(statuses.begin(), statuses.end(), value), end; at != end; ++at) {
    ++count;
    EXPECT_NE(text.find("\n| " + at->str(1) + " |"), text.npos) << at->str(1);
  }
  EXPECT_GE(count, 9);
}

}  // namespace
}  // namespace spillway::test::troubleshooting_test
