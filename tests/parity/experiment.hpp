// Runs of one training input that differ in a few keys, and what must be equal between them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace spillway::test {

// "a.b=value", as on the command line; no spaces in it.
using Keys = std::vector<std::string>;
Keys operator+(Keys left, Keys const& right);

// Of the text that is evaluated on.
inline constexpr std::int64_t kValidTokens = 3'000, kDocumentTokens = 40;

struct Run {
  std::filesystem::path dir;
  int status = -1;
  std::string output;
  std::vector<nlohmann::json> rows;  // of metrics.jsonl
  nlohmann::json summary;

  double number(std::size_t row, char const* key) const;
  std::int64_t spilled_bytes() const;  // over the logged steps
  std::int64_t peak_bytes(char const* which, char const* tier) const;
};

class Experiment {
 public:
  // `keys` hold for every run; `ranks` = 0 runs the binary without mpirun. The smallest model:
  // 3 blocks of 64, sequence 64, 6 steps with an evaluation and a checkpoint every third.
  Experiment(std::string const& name, int ranks, Keys keys = {});

  // Has train.h5 and valid.h5, 3,000 tokens in documents of 40.
  std::filesystem::path const& directory() const { return m_directory; }

  // A fresh run in a directory of its own; a failed one fails the test.
  Run run(std::string const& name, Keys const& keys = {}) const;
  // A run that goes on from the step-`step` checkpoint of `before`.
  Run resume(std::string const& name, Run const& before, int step, Keys const& keys = {}) const;

 private:
  Run start(std::string const& name, Keys const& keys) const;

  std::filesystem::path m_directory;
  int m_ranks;
  Keys m_keys;
};

// Every step of `run` has the bits it has in `reference`: loss, gradient norm, validation loss,
// learning rate and tokens. `run` may have fewer steps, but has the last.
void expect_equal_steps(Run const& reference, Run const& run);
// Steps `first` to `last` of a run of at most nine ranks, with so many sequences each, have trained
// on their own samples, each once. The run has debug.log_samples.
void expect_samples_once(Run const& run, int first, int last, int sequences);
// Each row's number is the other run's, but for such a part of it.
void expect_near(Run const& one, Run const& other, char const* key, double tolerance);
// Two checkpoints hold the same bits: parameters and moments.
void expect_equal_tensors(std::filesystem::path const& one_dir,
                          std::filesystem::path const& other_dir);
// The last checkpoints of two runs do.
void expect_equal_state(std::filesystem::path const& reference, std::filesystem::path const& run);
inline void expect_equal_state(Run const& reference, Run const& run) {
  expect_equal_state(reference.dir, run.dir);
}
// Peaks of all tiers are those that were promised before step 0.
void expect_measured_as_planned(Run const& run);

}  // namespace spillway::test
