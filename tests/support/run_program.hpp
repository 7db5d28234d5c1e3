// Runs the real program as a user would and reads what it has written.
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

// Runs a command line, without single quotes, by /bin/sh. A command that takes longer than
// `limit_s` is ended with status 124. By default that is before ctest ends the test, so that its
// output is seen.
Outcome run_command(std::string const& command, int limit_s = 3000);

// Returns whether tests run the program that computes on the stand-in for a GPU, which is so if the
// environment has SPILLWAY_ON_STAND_IN.
bool on_stand_in();

// Returns "mpirun -n <ranks> build/bin/spillway", or the program alone if `ranks` is 0.
std::string spillway_command(int ranks);

// Returns the path of the machine file for which runs are planned (debug.machine=PATH) instead of
// measuring. Tests of measuring set debug.machine=none.
std::string machine_file();
// Returns the machine file's text, to which it adds memory and links if tests run on the stand-in.
std::string with_tested_memory(std::string const& machine);
// Returns a machine file whose drive is so fast that plans spill whatever they can. It is at least
// a hundred times as fast as the drive that "debug.fault=storage-slow" simulates.
std::string fast_drive_machine();

// These return the rows of a run's metrics.jsonl: those of steps, the other ones (which mark starts
// and changes), or all.
std::vector<nlohmann::json> read_metrics(std::filesystem::path const& run_dir);
std::vector<nlohmann::json> read_events(std::filesystem::path const& run_dir);
std::vector<nlohmann::json> read_rows(std::filesystem::path const& run_dir);
// Returns a condition for /bin/sh that is true once the run has done a step.
std::string has_step(std::filesystem::path const& run_dir);
nlohmann::json read_summary(std::filesystem::path const& run_dir);

// Makes an empty directory in the current directory, in place of what an earlier run left there.
std::filesystem::path scratch_directory(std::string const& name);

// Writes a token file of `count` tokens of a seeded pattern that a model can learn. Documents have
// `document_tokens` tokens; if that is 0, the file does not tell of documents.
void write_token_file(std::filesystem::path const& path, std::int64_t count,
                      std::int64_t document_tokens = 0);

}  // namespace spillway::test
