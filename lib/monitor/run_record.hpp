// A RunRecord is what a run's directory says at one moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "job/at_work.hpp"
#include "monitor/run_history.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

// What summary.json says of the last job that wrote one.
struct SummaryRecord {
  std::optional<int> exit;
  double predicted_step_s = 0, measured_step_s = 0;
  TierBytes predicted_peak_bytes{}, measured_peak_bytes{};
};

struct CheckpointRecord {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  bool is_newest = false;    // whether `latest` names it
  std::string trouble = {};  // why it cannot be used; empty if it can
};

struct RunRecord {
  std::filesystem::path dir;
  std::optional<Config> config = {};  // empty if config.yaml is missing or of another version
  std::string config_trouble = {};    // why it is empty
  std::int64_t parameters = 0;        // 0 if not known
  std::string verdict = {};           // the first sentence of plan.txt
  std::string host = {};              // of rank 0
  std::optional<SummaryRecord> summary = {};
  RunHistory history = {};
  double written_at_s = 0;  // when metrics.jsonl was last written; 0 if it is not there
  std::vector<CheckpointRecord> checkpoints = {};  // the newest step first
  AtWork at_work = {};
};

// Returns whether a directory is a run's, and no checkpoint: it has some file that only runs write.
bool is_run_directory(std::filesystem::path const& path);

// Reads all of it but the history, the checkpoints and who is at work. What is missing or cannot be
// read is left out. Throws nothing but for want of memory.
RunRecord read_run_texts(std::filesystem::path const& run_dir);
// Reads all of it.
RunRecord read_run(std::filesystem::path const& run_dir);

// Returns how the last job ended, or nothing if one is at work or none has told: a job that was
// killed tells nothing.
std::optional<int> last_exit(RunRecord const& run);
// Returns how many steps are done: those up to the last one that was logged, or at which a job has
// told its end.
std::int64_t steps_done(RunRecord const& run);
// Returns how long the steps that are left take, or nothing if that is not known.
std::optional<double> left_s(RunRecord const& run);
// Returns a text such as "gpt, 12 layers of 768, 12 heads; 124439808 parameters; bf16", or "".
std::string model_words(RunRecord const& run);
// Returns a text such as "at work: pid 12 on node3" or "not at work: its last job ended with 75,
// stopped as asked".
std::string state_words(RunRecord const& run);

}  // namespace spillway
