// Directories of Hugging Face through the commands.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/model_directory.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test {

namespace fs = std::filesystem;

// "Of.HuggingFaceModel.comes_back.bert"
inline std::string own_name() {
  auto const* const info = testing::UnitTest::GetInstance()->current_test_info();
  auto name = fmt::format("{}.{}", info->test_suite_name(), info->name());
  std::ranges::replace(name, '/', '.');
  return name;
}

class HuggingFace : public testing::Test {
 protected:
  ~HuggingFace() override {
    if (!HasFailure()) fs::remove_all(m_dir);
  }

  std::string path(std::string const& name) const { return (m_dir / name).string(); }
  std::string read(std::string const& name) const {
    std::ostringstream text;
    text << std::ifstream(m_dir / name).rdbuf();
    return text.str();
  }
  Outcome run(std::string const& words) const {
    auto const outcome = run_command(spillway_command(0) + " " + words);
    EXPECT_EQ(outcome.status, 0) << words << ": " << outcome.output;
    return outcome;
  }
  // Gives what stdout has.
  std::string import(std::string const& from, std::string const& to) const {
    return run(fmt::format("import {} -o {} 2>{}", path(from), path(to), path("stderr"))).output;
  }
  void export_to(std::string const& checkpoint, std::string const& to,
                 std::string const& more = "") const {
    run(fmt::format("export {} -o {} {}", path(checkpoint), path(to), more));
  }
  Tensors tensors(std::string const& directory) const { return tensors_in(m_dir / directory); }

  // An input that begins with what import has printed, whose section `data` is the last.
  void write_input(std::string const& imported) const {
    std::ofstream(m_dir / "in.yaml")
        << model_and_ids(imported) << (imported.find("\ndata:\n") == imported.npos ? "data:\n" : "")
        << fmt::format(
               "  train: {0}/tokens.h5\n  valid: {0}/valid.h5\n  sequence: 32\n"
               "batch: {{sequences: 2, micro: 2}}\noptim: {{schedule: constant, warmup: 0}}\n"
               "precision: fp32\nmemory: {{device: 64MiB}}\ndebug: {{machine: {1}}}\n"
               "run: {{steps: 2, threads: 1, dir: {0}/run, init: {0}/checkpoint, eval: {{every: "
               "0}}, "
               "checkpoint: {{every: 1, keep: 1}}}}\n",
               m_dir.string(), machine_file());
    write_token_file(m_dir / "tokens.h5", 4000);
    write_token_file(m_dir / "valid.h5", 3999);  // the same windows, but not the same file
  }

  fs::path const m_dir = scratch_directory(own_name());
};

}  // namespace spillway::test
