#include "tests/support/run_program.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "base/philox.hpp"
#include "io/tokens/token_writer.hpp"

namespace spillway::test {

std::vector<std::string> Outcome::lines() const {
  std::vector<std::string> result;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);) result.push_back(line);
  return result;
}

namespace {

// On a busy machine a command also says how far it has come (base/work_progress.hpp).
bool tells_progress(std::string const& line) {
  static std::regex const form(R"([a-z]+: \d[^,]*, \S+ \w+/s(, .*)?\n)");
  constexpr std::size_t longest = 200;
  return line.size() < longest && std::regex_match(line, form);
}

std::string without_progress(std::string const& output) {
  std::string rest;
  for (std::size_t at = 0; at < output.size();) {
    auto const end = std::min(output.find('\n', at), output.size() - 1) + 1;
    auto const line = output.substr(at, end - at);
    if (!tells_progress(line)) rest += line;
    at = end;
  }
  return rest;
}

}  // namespace

Outcome run_command(std::string const& command, int limit_s) {
  auto const limited = fmt::format("timeout -k 5 {} /bin/sh -c '{}' 2>&1", limit_s, command);
  auto* pipe = popen(limited.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed: " + limited);
  Outcome outcome;
  std::array<char, 4096> buffer{};
  while (auto const size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), size);
  }
  int const ended = pclose(pipe);
  outcome.output = without_progress(outcome.output);
  outcome.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  return outcome;
}

bool tool_exists(std::string const& name) {
  return run_command("command -v " + name).status == 0;
}

bool on_stand_in() {
  return std::getenv("SPILLWAY_ON_STAND_IN") != nullptr;
}

bool on_ptx() {
  return std::getenv("SPILLWAY_ON_PTX") != nullptr;
}

bool on_device() {
  return on_stand_in() || on_ptx();
}

std::string spillway_command(int ranks) {
  std::string const program = on_ptx()        ? SPILLWAY_BINARY "_on_ptx"
                              : on_stand_in() ? SPILLWAY_BINARY "_on_stand_in"
                                              : SPILLWAY_BINARY;
  if (ranks == 0) return program;
  return fmt::format("{} -n {} {}", SPILLWAY_MPIRUN, ranks, program);
}

std::string machine_file_of_cores() {
  return SPILLWAY_TEST_MACHINES "/machine.yaml";
}

std::string machine_file() {
  return on_ptx()        ? SPILLWAY_TEST_MACHINES "/ptx_machine.yaml"
         : on_stand_in() ? SPILLWAY_TEST_MACHINES "/gpu_machine.yaml"
                         : machine_file_of_cores();
}

std::string with_tested_memory(std::string const& machine) {
  if (!on_device()) return machine;
  return fmt::format(
      "{}memory: {{device: 1GiB, host: 4GiB}}\ntarget: {}\n"
      "links: {{h2d_gbps: 10, d2h_gbps: 10}}\n",
      machine, on_ptx() ? "sm_90" : "host");
}

std::string fast_drive_machine() {
  // On a device, plans use the drive for what has no room in memory, so it need not be fast.
  // With a faster drive, times would consist of fixed costs, which do not grow if the drive slows
  // down.
  int const gbps = on_device() ? 2 : 50;
  return with_tested_memory(
      fmt::format("matmul_gflops: {{bf16: 50, fp32: 50}}\nmemory_gbps: 10\n"
                  "nvme: {{write_gbps: {0}, read_gbps: {0}, both_gbps: {1}}}\n"
                  "cores: {{all: 2, compute: 1}}\n",
                  gbps, 2 * gbps));
}

std::vector<std::string> scarce_memory() {
  // Products of the module take 32 MiB of workspace, and the interpreter wants few tokens.
  if (on_ptx())
    return {"data.sequence=32", "batch.sequences=1", "batch.micro=1", "memory.device=35000KiB",
            "memory.host=2200KiB"};
  return {"batch.sequences=4", "batch.micro=4", "memory.device=5MiB", "memory.host=2200KiB"};
}

std::vector<nlohmann::json> read_rows(std::filesystem::path const& run_dir) {
  std::ifstream file(run_dir / "metrics.jsonl");
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

std::vector<nlohmann::json> read_metrics(std::filesystem::path const& run_dir) {
  auto rows = read_rows(run_dir);
  std::erase_if(rows, [](auto const& row) { return row.contains("event"); });
  return rows;
}

std::vector<nlohmann::json> read_events(std::filesystem::path const& run_dir) {
  auto rows = read_rows(run_dir);
  std::erase_if(rows, [](auto const& row) { return !row.contains("event"); });
  return rows;
}

std::string has_step(std::filesystem::path const& run_dir) {
  return "grep -qs loss_hex " + (run_dir / "metrics.jsonl").string();
}

nlohmann::json read_summary(std::filesystem::path const& run_dir) {
  std::ifstream file(run_dir / "summary.json");
  return nlohmann::json::parse(file);
}

std::filesystem::path scratch_directory(std::string const& name) {
  // Tests of several programs may run at the same time, so each has its own folder.
  auto const* const folder = on_ptx()        ? "scratch_on_ptx"
                             : on_stand_in() ? "scratch_on_stand_in"
                                             : "scratch";
  auto const path = std::filesystem::current_path() / folder / name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

void write_token_file(std::filesystem::path const& path, std::int64_t count,
                      std::int64_t document_tokens) {
  std::vector<std::int64_t> starts;
  for (std::int64_t at = 0; document_tokens > 0 && at < count; at += document_tokens)
    starts.push_back(at);
  TokenWriter writer(Output(path), "byte", 256, count, std::ssize(starts));
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  std::int32_t state = 0;  // most tokens follow from the one before
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    auto const random = philox(7, 0, i).x[0];
    state = random % 8 == 0 ? static_cast<std::int32_t>(random >> 8) % 61 : (state * 5 + 3) % 61;
    tokens[i] = state < 0 ? -state : state;
  }
  writer.append(tokens);
  writer.close(starts);
}

}  // namespace spillway::test
