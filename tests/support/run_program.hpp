// Runs the real program as a user would and reads what it has written.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace spillway::test {

struct Outcome {
  int status = -1;
  std::string output;  // stdout and stderr together, without lines of how far a command has come

  std::vector<std::string> lines() const;
};

// Lets /bin/sh run a command line, which must not have single quotes. A command that takes longer
// than `limit_s` seconds is killed and has the status 124. The default is less than the limit that
// ctest sets for a test, so that the command's output is seen.
Outcome run_command(std::string const& command, int limit_s = 3000);
bool tool_exists(std::string const& name);  // whether the shell finds a program of this name

// Returns whether tests run the program that computes on the stand-in for a GPU. The environment
// variable SPILLWAY_ON_STAND_IN chooses it.
bool on_stand_in();
// Returns whether tests run the program that computes with the module for GPUs on the interpreter
// of PTX. The environment variable SPILLWAY_ON_PTX chooses it.
bool on_ptx();
// Returns whether tests run one of these two, whose device has memory of its own.
bool on_device();

// Returns "mpirun -n <ranks> build/bin/spillway", or the program alone if `ranks` is 0.
std::string spillway_command(int ranks);

// Returns the path of the machine file for which runs are planned (debug.machine=PATH) instead of
// measuring. Tests of measuring set debug.machine=none.
std::string machine_file();
std::string machine_file_of_cores();  // the same where tests run on no device
// Returns the text of a machine file. It adds memory, links and the kernels' target to the given
// text if tests run on a device.
std::string with_tested_memory(std::string const& machine);
// Returns the text of a machine file whose drive is so fast that plans spill whatever they can. The
// drive is at least a hundred times as fast as the one that "debug.fault=storage-slow" simulates.
std::string fast_drive_machine();
// Returns keys "a.b=value" with which state of a model of 4 layers of 64 goes to the drive of a
// device's machine, and could stay on the device.
std::vector<std::string> scarce_memory();

// These return rows of a run's metrics.jsonl. read_metrics() returns the rows of steps,
// read_events() the other ones, such as the start of a run, and read_rows() all of them.
std::vector<nlohmann::json> read_metrics(std::filesystem::path const& run_dir);
std::vector<nlohmann::json> read_events(std::filesystem::path const& run_dir);
std::vector<nlohmann::json> read_rows(std::filesystem::path const& run_dir);
// Returns a condition for /bin/sh that is true once the run has done a step.
std::string has_step(std::filesystem::path const& run_dir);
nlohmann::json read_summary(std::filesystem::path const& run_dir);

// Makes an empty directory `name` in a folder of the current directory. What an earlier run left in
// it is removed.
std::filesystem::path scratch_directory(std::string const& name);

// Writes a token file of `count` tokens, which are the same each time and have a pattern that a
// model can learn. Documents have `document_tokens` tokens; if `document_tokens` is 0, the file
// does not say where documents begin.
void write_token_file(std::filesystem::path const& path, std::int64_t count,
                      std::int64_t document_tokens = 0);

}  // namespace spillway::test
