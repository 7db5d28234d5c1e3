// What is planned for every input on every machine file: a change of the planner that changes a
// plan, a forecast or what is said about it shows here. SPILLWAY_WRITE_FROZEN=1 writes the table
// anew; its difference is what a change did.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/checksum.hpp"
#include "support/run_program.hpp"

namespace spillway::test {
namespace {

std::filesystem::path const kTable = SPILLWAY_GOLDENS "/plans.txt";
std::filesystem::path const kInput = SPILLWAY_SOURCE_DIR "/input";

// Budgets of which the second makes most models leave the device.
struct Memory {
  char const* name;
  char const* keys;
};
constexpr Memory kMemories[] = {
    {"auto", ""},
    {"tight", "memory.device=2GiB memory.host=5GiB memory.nvme.path=/ssd memory.nvme.size=7GiB"}};

std::vector<std::string> files_in(std::filesystem::path const& folder) {
  std::vector<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

// Products of the cores differ from machine to machine, and with them their workspaces.
std::string command(std::string const& input, std::string const& machine, int ranks,
                    Memory const& memory) {
  return fmt::format(
      "{0} plan {1}/{2}.yaml --machine {1}/machines/{3}.yaml --ranks {4} --json "
      "debug.kernels=portable {5} 2>/dev/null",
      spillway_command(0), kInput.string(), input, machine, ranks, memory.keys);
}

std::string answer(Outcome const& outcome) {
  if (outcome.status != 0) return fmt::format("status {}", outcome.status);
  auto json = nlohmann::json::parse(outcome.output);
  json.erase("search_s");
  auto const text = json.dump();
  auto const& predicted = json.at("predicted");
  auto const& peaks = predicted.at("peak_bytes");
  return fmt::format("{:.6g} s  {} {} {}  {} candidates  {}", predicted.at("step_s").get<double>(),
                     peaks.at("device").dump(), peaks.at("host").dump(), peaks.at("nvme").dump(),
                     json.at("candidates").dump(),
                     checksum_text(checksum(std::as_bytes(std::span(text)))));
}

std::vector<std::string> lines_of(std::filesystem::path const& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(FrozenPlans, are_those_of_the_table) {
  std::vector<std::string> lines = {
      "# input, machine, ranks, memory: step, peaks of device, host and NVMe in bytes, and all "
      "that "
      "is said"};
  std::map<std::string, std::string> commands;
  for (auto const& input : files_in(kInput))
    for (auto const& machine : files_in(kInput / "machines"))
      for (int const ranks : {1, 8})
        for (auto const& memory : kMemories) {
          auto const asked = command(input, machine, ranks, memory);
          lines.push_back(fmt::format("{} {} {} {}: {}", input, machine, ranks, memory.name,
                                      answer(run_command(asked))));
          commands[lines.back()] = asked;
        }
  if (std::getenv("SPILLWAY_WRITE_FROZEN") != nullptr) {
    std::ofstream file(kTable);
    for (auto const& line : lines) file << line << '\n';
  }
  auto const frozen = lines_of(kTable);
  ASSERT_EQ(frozen.size(), lines.size()) << "an input or a machine came or went";
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(lines[i], frozen[i]) << commands[lines[i]];
}

}  // namespace
}  // namespace spillway::test
