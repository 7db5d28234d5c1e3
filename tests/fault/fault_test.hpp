// A tiny job in a directory of its own, to be spoiled; and what every failure owes its user.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"

namespace spillway::test {

// The binary alone, and under mpirun as two ranks.
inline constexpr int kAlone = 0, kTwoRanks = 2;

class FaultTest : public ::testing::Test {
 protected:
  FaultTest();
  ~FaultTest() override;

  std::string path(std::string const& name) const { return (m_dir / name).string(); }
  void write(std::string const& name, std::string const& bytes) const;
  std::string read(std::string const& name) const;

  // "... train job.yaml <overrides>", as a shell command. The job: 2 layers, 4 steps, run.dir =
  // run, training on tokens.h5.
  std::string train_command(std::string const& overrides, int ranks = kAlone) const;
  Outcome train(std::string const& overrides, int ranks = kAlone) const;

  // Shell: waits until `condition`, or gives up when the job last put in the background has ended.
  static std::string until(std::string const& condition);
  std::string spilling() const;  // overrides that send all activations to nvme/

  // (loss, gradient norm, loss of an evaluation) of every step, as exact bits, by step number.
  std::map<std::int64_t, std::string> bits(std::string const& run) const;

  std::filesystem::path const m_dir;
};

// Lines of the program that complain: neither progress nor information nor what mpirun adds.
std::vector<std::string> complaints(Outcome const& outcome);

// The status, and exactly one complaint, which contains `text`.
::testing::AssertionResult fails_with(int status, std::string const& text, Outcome const& outcome);

}  // namespace spillway::test
