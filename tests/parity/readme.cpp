// What README says of the program, as far as the program can be asked: its commands, its example
// of a plan, the files that it names.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "tests/support/run_program.hpp"

namespace spillway::test::readme_test {
namespace {

std::filesystem::path const kSource = SPILLWAY_SOURCE_DIR;

std::string readme() {
  std::ostringstream text;
  text << std::ifstream(kSource / "README.md").rdbuf();
  return text.str();
}

// All that `pattern`'s group matches.
std::vector<std::string> found(std::string const& text, std::string const& pattern) {
  std::regex const regex(pattern);
  std::vector<std::string> result;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    result.push_back((*at)[1]);
  return result;
}

std::string with_single_spaces(std::string const& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

// Run where there is nothing but input/, a command that parses ends with what it does not find.
TEST(Readme, gives_commands_and_keys_that_exist) {
  auto const dir = scratch_directory("readme");
  std::filesystem::create_directory_symlink(kSource / "input", dir / "input");
  auto commands = found(readme(), "\n    [^\n]*build/bin/spillway( [^\n#]*)");
  auto const inline_ones = found(readme(), "`spillway( [^`]*)`");
  commands.insert(commands.end(), inline_ones.begin(), inline_ones.end());
  EXPECT_GT(commands.size(), 5u);
  for (auto const& command : commands) {
    auto const outcome = run_command("cd " + dir.string() + " && " + spillway_command(0) + command);
    for (auto const* mistake : {"Run with --help", "is no command", "unknown key", "expected"})
      EXPECT_EQ(outcome.output.find(mistake), std::string::npos) << command << outcome.output;
  }
}

TEST(Readme, names_every_other_command) {
  auto const text = readme();
  auto const at = text.find("Other commands: ");
  ASSERT_NE(at, std::string::npos);
  auto const help = run_command(spillway_command(0) + " --help").output;
  auto const others = found(text.substr(at, text.find(". ", at) - at), "`([-a-z]+)");
  EXPECT_GE(others.size(), 4u);
  for (auto const& other : others) EXPECT_NE(help.find(other), std::string::npos) << other;
}

TEST(Readme, names_files_that_are_there) {
  auto const text = readme();
  auto files = found(text, "\\]\\(([^)#:]+)\\)");
  for (auto const* pattern : {"`((?:tests|input|docs)/[^` *]+)`", "\n    (jobs/[a-z]+\\.sh)"}) {
    auto const more = found(text, pattern);
    EXPECT_FALSE(more.empty()) << pattern;
    files.insert(files.end(), more.begin(), more.end());
  }
  for (auto const& file : files) {
    bool const is_there = std::filesystem::exists(kSource / file) ||
                          std::filesystem::exists(kSource / (file + ".hpp"));
    EXPECT_TRUE(is_there) << file;
  }
}

std::string tutorial() {
  std::ostringstream text;
  text << std::ifstream(kSource / "docs/tutorial.md").rdbuf();
  return text.str();
}

TEST(Tutorial, has_an_input_file_that_can_be_planned_and_commands_that_exist) {
  auto const dir = scratch_directory("tutorial");
  auto const text = tutorial();
  auto const begin = text.find("```yaml\n") + 8, end = text.find("```", begin);
  std::ofstream(dir / "small.yaml") << text.substr(begin, end - begin);
  auto const in_there = "cd " + dir.string() + " && " + spillway_command(0);
  auto const machine = (kSource / "input/machines/cpu.yaml").string();
  auto const plan = run_command(in_there + " plan small.yaml model.vocab=256 --machine " + machine);
  EXPECT_EQ(plan.status, 0) << plan.output;
  auto const commands = found(text, "\n    \\$ spillway( [^\n]*)");
  EXPECT_GE(commands.size(), 7u);
  for (auto const& command : commands) {
    if (command.find("learning_rate") != std::string::npos) continue;  // shows what is refused
    auto const outcome = run_command(in_there + command);
    for (auto const* mistake : {"Run with --help", "is no command", "unknown key", "expected"})
      EXPECT_EQ(outcome.output.find(mistake), std::string::npos) << command << outcome.output;
  }
}

// Where this fails, the plan has changed for a reason: put what is printed into README.
TEST(Readme, shows_a_plan_that_is_made) {
  auto const dir = scratch_directory("readme_plan");
  std::ofstream(dir / "in.yaml") << "model: {layers: 48, hidden: 4096, heads: 32, vocab: 50257}\n"
                                    "batch: {sequences: 8, micro: 8}\n";
  auto const plan =
      run_command(spillway_command(0) + " plan " + (dir / "in.yaml").string() +
                  " --compare --machine " + (kSource / "input/machines/rtx3090.yaml").string());
  ASSERT_EQ(plan.status, 0) << plan.output;
  auto const printed = with_single_spaces("\n" + plan.output);
  auto const text = readme();
  auto const begin = text.find("\n    Fits with "), end = text.find("\n\n", begin);
  ASSERT_NE(begin, std::string::npos);
  std::istringstream lines(text.substr(begin + 1, end - begin - 1));
  for (std::string line; std::getline(lines, line);)
    EXPECT_NE(printed.find(with_single_spaces(line)), std::string::npos) << line << plan.output;
}

}  // namespace
}  // namespace spillway::test::readme_test
