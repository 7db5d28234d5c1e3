// Runs the real binary as a user would, and looks at what it left.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace spillway::test {

struct Outcome {
  int status = -1;
  std::string output;  // stdout and stderr together

  std::vector<std::string> lines() const;
};

// A command line for /bin/sh. What hangs is ended a while before ctest would end the test, so that
// its output is told (status 124).
Outcome run_command(std::string const& command, int limit_s = 3000);

// Says whether tests run the program that computes on the stand-in for a GPU: the environment has
// SPILLWAY_ON_STAND_IN.
bool on_stand_in();

// "mpirun -n <ranks> build/bin/spillway", or the binary alone for 0.
std::string spillway_command(int ranks);

// The machine that runs are planned for with "debug.machine=" before it, instead of being measured;
// tests of measuring say "debug.machine=none".
std::string machine_file();
// Returns a machine file's text with the memory and links of what tests run on.
std::string with_tested_memory(std::string const& machine);
// Returns the text of one with a drive so fast that what can leave does. What is measured in runs
// cannot come near to it, nor to a slow drive by a hundred.
std::string fast_drive_machine();

// The steps of a run's metrics.jsonl, its other rows, which mark starts and changes, or both; and
// its summary.json.
std::vector<nlohmann::json> read_metrics(std::filesystem::path const& run_dir);
std::vector<nlohmann::json> read_events(std::filesystem::path const& run_dir);
std::vector<nlohmann::json> read_rows(std::filesystem::path const& run_dir);
// A condition for /bin/sh: the run has done a step.
std::string has_step(std::filesystem::path const& run_dir);
nlohmann::json read_summary(std::filesystem::path const& run_dir);

// An empty directory of its own under the build, removed at the end of the test program.
std::filesystem::path scratch_directory(std::string const& name);

// Writes a token file of `count` bytes of a seeded, learnable pattern, in documents of so many
// tokens, or with 0 in one that is not told of.
void write_token_file(std::filesystem::path const& path, std::int64_t count,
                      std::int64_t document_tokens = 0);

}  // namespace spillway::test
