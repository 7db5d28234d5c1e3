#include "tests/support/frozen.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace spillway::test {
namespace {

std::vector<std::string> blocks(std::string const& text, std::string_view mark) {
  std::vector<std::string> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (result.empty() || line.starts_with(mark)) result.emplace_back();
    result.back() += line + '\n';
  }
  return result;
}

}  // namespace

void expect_frozen(std::string const& name, std::string const& seen, std::string_view mark) {
  auto const file = std::filesystem::path(SPILLWAY_SOURCE_DIR) / "tests/goldens" / name;
  if (std::getenv("SPILLWAY_WRITE_FROZEN") != nullptr) std::ofstream(file) << seen;
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  auto const frozen = blocks(text.str(), mark), now = blocks(seen, mark);
  EXPECT_EQ(now.size(), frozen.size()) << file << ": something came or went";
  for (std::size_t i = 0; i < std::min(now.size(), frozen.size()); ++i)
    EXPECT_EQ(now[i], frozen[i]);
}

}  // namespace spillway::test
