// What is planned for every input on every machine file: a change of the planner that changes a
// plan, a forecast or what is said about it shows here. An ordinary run asks a sixth of the
// questions, for programs or for people, and those that the table does not have yet for both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/checksum.hpp"
#include "tests/support/frozen.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::frozen_plans_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_in(fs::path const& folder) {
  std::vector<std::string> names;
  for (auto const& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

// Budgets with which little stays on the device.
std::string tight(std::string const& input) {
  bool const is_large = input.starts_with("llama") || input.starts_with("mistral");
  return is_large ? "memory.device=8GiB memory.host=48GiB memory.nvme.path=/ssd "
                    "memory.nvme.size=100GiB"
                  : "memory.device=2GiB memory.host=5GiB memory.nvme.path=/ssd "
                    "memory.nvme.size=7GiB";
}

std::string sum(std::string const& text) {
  return checksum_text(checksum(std::as_bytes(std::span(text))));
}

// What is said for programs, all of it; the last line of a refusal.
std::string data(Outcome const& outcome) {
  if (outcome.status != 0) return fmt::format("{} {}", outcome.status, outcome.lines().back());
  auto json = nlohmann::json::parse(outcome.output);
  json.erase("search_s");
  auto const& predicted = json.at("predicted");
  auto const& peaks = predicted.at("peak_bytes");
  return fmt::format("{:.6g} s  {} {} {}  {} candidates  {}", predicted.at("step_s").get<double>(),
                     peaks.at("device").dump(), peaks.at("host").dump(), peaks.at("nvme").dump(),
                     json.at("candidates").dump(), sum(json.dump()));
}

// What is said for people, but for the time that it took.
std::string words(Outcome const& outcome) {
  if (outcome.status != 0) return std::to_string(outcome.status);
  return sum(outcome.output.substr(0, outcome.output.rfind("Searched ")));
}

struct Question {
  std::string input, machine;
  int ranks;
  bool is_tight;

  std::string name() const {
    return fmt::format("{} {} {} {}: ", input, machine, ranks, is_tight ? "tight" : "auto");
  }
};

// The line of the table that answers the question, or "" if there is none.
std::string frozen_answer(Question const& question) {
  std::ifstream table(SPILLWAY_SOURCE_DIR "/tests/goldens/plans.txt");
  for (std::string line; std::getline(table, line);)
    if (line.starts_with(question.name())) return line + '\n';
  return "";
}

// Asks the question for programs or for people, and takes the other answer from the table's line
// `frozen`. Asks both if that is empty.
std::string answer(fs::path const& dir, Question const& question, std::string const& frozen) {
  auto const& [input, machine, ranks, is_tight] = question;
  // What products need on cores differs from processor to processor.
  std::string keys = "debug.kernels=portable " + (is_tight ? tight(input) : "");
  if (input == "quickstart") keys += " model.vocab=256";  // its text is of bytes
  auto const ask = [&](char const* how) {
    return run_command(fmt::format(
        "cd {} && {} plan input/{}.yaml --machine input/machines/{}.yaml --ranks {} {} {} "
        "2>said || {{ status=$?; tail -n 1 said; exit $status; }}",
        dir.string(), spillway_command(0), input, machine, ranks, how, keys));
  };
  if (frozen.empty())
    return fmt::format("{}{} {}\n", question.name(), data(ask("--json")), words(ask("")));
  auto const end_of_data = frozen.rfind(' ');
  if (turn_of(12) < 6) return frozen.substr(0, end_of_data) + " " + words(ask("")) + "\n";
  return question.name() + data(ask("--json")) + frozen.substr(end_of_data);
}

TEST(FrozenPlans, are_those_of_the_table) {
  auto const dir = scratch_directory("frozen_plans");  // has no token files
  fs::create_directory_symlink(SPILLWAY_SOURCE_DIR "/input", dir / "input");
  bool const asks_all = takes_all() || std::getenv("SPILLWAY_WRITE_FROZEN") != nullptr;
  std::uint64_t number = 0;
  std::string seen =
      "# input, machine, ranks, memory: step, peaks of device, host and NVMe in bytes, plans "
      "looked at, and checksums of all that is said with --json and without\n";
  for (auto const& input : files_in(dir / "input"))
    for (auto const& machine : files_in(dir / "input/machines"))
      for (bool const is_tight : {true, false}) {
        Question const question{input, machine, is_tight ? 1 : 8, is_tight};
        auto const frozen = asks_all ? "" : frozen_answer(question);
        bool const asks = frozen.empty() || ++number % 6 == turn_of(6);
        seen += asks ? answer(dir, question, frozen) : frozen;
      }
  expect_frozen("plans.txt", seen);
}

}  // namespace
}  // namespace spillway::test::frozen_plans_test
