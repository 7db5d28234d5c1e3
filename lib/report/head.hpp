// Says before the first step of a job what will happen.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/time_left.hpp"

namespace spillway {

// What a run reads of one of several sources of text that are mixed.
struct MixedText {
  std::string name;
  double share = 0;   // of all sequences
  double epochs = 0;  // of all steps
};

struct RunHead {
  std::string run;                 // the run's directory
  std::vector<std::string> hosts;  // by rank
  std::string where = {};          // on what all ranks compute, as a part of a sentence
  std::string family = {}, precision = {};
  std::int64_t parameters = 0, trainable_parameters = 0;
  // Tokens that samples use; 0 if there are none, or if nobody has opened the files.
  std::int64_t train_tokens = 0, valid_tokens = 0;
  std::int64_t steps = 0, steps_done = 0;
  double step_tokens = 0, epochs = 0;  // `epochs` are those of all steps; 0 if unknown
  std::vector<MixedText> mix = {};     // empty if data are not mixed
  double step_s = 0;                   // predicted; 0 if unknown
  TimeLeft left = {};
  std::time_t now = 0;                 // 0 if the run may begin at any time
  std::optional<double> limit_s = {};  // after so many seconds the job stops
  std::string binds = {};              // what the time of a step goes to
};

// Returns the head as lines of at most kPageColumns (base/wrapped.hpp).
std::string head_text(RunHead const& head);

// Returns those of its rows that hold for a run which is only planned: what is trained, by how many
// steps, and what they take.
std::string planned_rows(RunHead const& head);

// Returns the hosts of ranks as a text such as "a", "a (4 ranks), b (2 ranks)", or "a .. z (26
// hosts)".
std::string hosts_text(std::span<std::string const> hosts);

}  // namespace spillway
