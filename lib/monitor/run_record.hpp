// A RunRecord is what a run's directory says at one moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "job/at_work.hpp"
#include "monitor/followed_file.hpp"
#include "monitor/json_fields.hpp"
#include "monitor/run_history.hpp"

namespace spillway {

struct CheckpointRecord {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  bool is_newest = false;    // whether `latest` names it
  std::string trouble = {};  // why it cannot be used; empty if it can
  std::string base = {};     // where the weights are that it does not hold; empty if it holds all
};

struct RunRecord {
  std::filesystem::path dir;
  std::optional<Config> config = {};  // empty if config.yaml is missing or of another version
  std::string config_trouble = {};    // why it is empty
  // The objects in environment.json and in summary.json, null where there is none. A summary that a
  // job before the last one has left counts as none.
  RunJson environment = {}, summary = {};
  std::int64_t parameters = 0;             // 0 if not known
  std::string verdict = {};                // the first sentence of plan.txt
  std::string host = {};                   // of rank 0
  std::vector<std::string> troubles = {};  // what else cannot be read, a sentence each
  RunHistory history = {};
  double written_at_s = 0;  // when metrics.jsonl was last written; 0 if it is not there
  std::vector<CheckpointRecord> checkpoints = {};  // the newest step first
  AtWork at_work = {};
};

// Reads what files of the directory say beside metrics.jsonl, whose rows `run.history` must have.
// What is missing or cannot be read is left out. Throws nothing but for want of memory, as do the
// others.
void read_texts(RunRecord& run);
// Adds to the history what has come to metrics.jsonl since the last look, and returns whether
// anything has.
bool read_news(FollowedFile& metrics, RunHistory& history);
// Reads all but the checkpoints and who is at work.
RunRecord read_rows_and_texts(std::filesystem::path const& run_dir);
// Reads all of it.
RunRecord read_run(std::filesystem::path const& run_dir);

// Returns how the last job ended, or nothing if one is at work or none has told: a job that was
// killed tells nothing.
std::optional<int> last_exit(RunRecord const& run);
// Returns how many steps are done: those up to the last one that was logged, or at which a job has
// begun or told its end.
std::int64_t steps_done(RunRecord const& run);
// Returns on how many tokens the run has trained, and in how many steps: steps_done() of them, or
// fewer if nobody has told the tokens of the last ones. Nothing if none are known.
struct TokensDone {
  std::int64_t tokens = 0, step = 0;
};
std::optional<TokensDone> tokens_done(RunRecord const& run);
// Returns the median time of a step as the last job has told it at its end or, before that, as its
// last rows have it; 0 if nothing is known.
double measured_step_s(RunRecord const& run);
// Returns what the last plan predicts for a step, or 0 if that is not known.
double predicted_step_s(RunRecord const& run);
// Returns how long the steps that are left take, or nothing if that is not known.
std::optional<double> left_s(RunRecord const& run);
// Returns the event of the rank that is slow in the job at work, or null if there is none.
EventRow const* slow_rank(RunRecord const& run);
// Returns a text such as "gpt, 12 layers of 768, 12 heads; 124439808 parameters; bf16", or "". If
// `parameters` is 0, it leaves them out.
std::string model_words(RunRecord const& run);
std::string model_words(Config const& config, std::int64_t parameters = 0);
// Returns what a run trains on, in which proportion where it mixes, and is evaluated on; "" if no
// data are named.
std::string data_words(DataConfig const& data);
// Returns a text such as "at work: pid 12 on node3" or "not at work: its last job ended with 75,
// stopped as asked".
std::string state_words(RunRecord const& run);

}  // namespace spillway
