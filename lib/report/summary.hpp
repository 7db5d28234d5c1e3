// Defines what summary.json contains.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "comm/rank_wait.hpp"
#include "report/loss_record.hpp"
#include "report/metrics.hpp"
#include "report/time_table.hpp"
#include "run/pinning.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

struct SpillReport {
  std::string backend = "none";                    // how bytes are moved; "none" if nothing spills
  std::int64_t written_bytes = 0, read_bytes = 0;  // sums over all ranks
  double write_gbps = 0, read_gbps = 0;  // what one rank reaches, as a mean over all bytes
  double lifetime_years = 0;             // of the node's drives; 0 if unknown
  std::int64_t endurance_bytes = 0;
  double used_lifetime_years = 0;  // for cells as a spill file uses them; 0 if unknown
};

// An Outcome says what a job's training came to. Losses are those of its own steps.
struct Outcome {
  std::int64_t step = 0;    // how many steps of the run are done
  std::int64_t tokens = 0;  // how many tokens of text the run has trained on
  std::int64_t parameters = 0, trainable_parameters = 0;
  LossRecord loss = {}, valid_loss = {};
  std::time_t started = 0, ended = 0;
  double duration_s = 0;        // from the begin of the process
  double restart_s = 0;         // of it until the first step began
  std::int64_t done_again = 0;  // steps that an earlier job had done and lost
  double done_again_s = 0;      // what they took in this one
  std::int64_t evaluations = 0, saves = 0;
  double evaluations_s = 0, saves_s = 0;
};

struct Summary {
  Outcome outcome;
  std::string plan;  // the file of the last plan, which predictions describe
  TierBytes predicted_peak_bytes{}, measured_peak_bytes{};  // largest over ranks and plans
  std::int64_t outside_bytes = 0, peak_rss_bytes = 0;
  // How many bytes of a device's memory are in use beside this run's buffers, by other processes
  // too. Has no value if device memory is main memory.
  std::optional<std::int64_t> device_outside_bytes = {};
  std::optional<Pinning> pinning = {};  // of the rank that pinned most; empty if none pinned memory
  double predicted_step_s = 0, measured_step_s = 0;
  std::array<double, kOpKinds> predicted_op_s{}, measured_op_s{};  // by OpKind, in one step
  SpillReport spill;
  LaneReport lanes;  // of this rank, over all steps
  double train_s = 0;
  TimeTable times;
  std::vector<RankWait> waits;  // by rank, during train_s; empty if there is one rank
  std::string job = {};         // what job_name() returns
  std::vector<std::string> warnings = {};
  int exit = 0;
  std::string why = {};  // the error that has ended the job, if this rank knows it
};
std::string to_json(Summary const& summary);

}  // namespace spillway
