// Declares the program's commands. Each returns when it is done or throws Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "comm/comm.hpp"

namespace spillway {

struct TrainArguments {
  std::string input;
  std::vector<std::string> overrides;
};
Status run_train(TrainArguments const& arguments, Comm& comm);

struct EvalArguments {
  std::string input;
  std::vector<std::string> overrides;
  std::string checkpoint;
  std::optional<std::int64_t> batches;  // at most; none: all of the set
};
inline constexpr std::int64_t kMostBatches = 1'000'000'000'000;
Status run_eval(EvalArguments const& arguments, Comm& comm);

inline constexpr std::int64_t kFillings = 5;
struct GenerateArguments {
  std::string checkpoint;
  std::optional<std::string> prompt;     // this or the ids
  std::vector<std::int64_t> prompt_ids;  // token ids
  std::int64_t tokens = 200;
  double temperature = 0.8;
  std::uint64_t seed = 1;
  std::optional<std::int64_t> top;     // fillings of each place; none: kFillings
  std::string precision;               // bf16 | fp32; empty: the checkpoint's
  std::vector<std::string> overrides;  // ids of special tokens (data.*_id)
};
Status run_generate(GenerateArguments const& arguments);

struct TokenizeArguments {
  std::string tokenizer = "byte";
  std::string output;
  std::vector<std::string> files;
  bool separator = false;
  bool force = false;  // here and below: whether what the program did not make may be replaced
};
Status run_tokenize(TokenizeArguments const& arguments);

struct ImportArguments {
  std::string directory;  // of Hugging Face
  std::string output;     // the checkpoint
  bool force = false;
};
Status run_import(ImportArguments const& arguments);

struct ExportArguments {
  std::string checkpoint;
  std::string output;  // a directory of Hugging Face
  std::string dtype;   // f32 | bf16 | f16; empty: as they were imported
  bool force = false;
};
Status run_export(ExportArguments const& arguments);

struct ProfileArguments {
  std::string input;
  std::vector<std::string> overrides;
  std::string output;
  bool force = false;
};
Status run_profile(ProfileArguments const& arguments, Comm& comm);

struct RokArguments {
  std::string input;
  std::vector<std::string> overrides;
  std::string output = "rok.csv";    // the chart is written beside it
  std::vector<std::int64_t> micros;  // empty: the input's, its half and its double
  std::int64_t steps = 4;            // per point; the first is not counted
  bool force = false;
};
Status run_rok(RokArguments const& arguments, Comm& comm);

inline constexpr std::int64_t kMostRanks = 1'000'000;
struct PlanArguments {
  std::string input;
  std::vector<std::string> overrides;
  std::string machine;  // path of a machine file; empty: this machine
  std::int64_t ranks = 1;
  bool json = false;
  bool compare = false;
  bool items = false;
  std::string save;  // path of the plan.yaml to write; empty: none
  bool force = false;
};
Status run_plan(PlanArguments const& arguments);

Status run_inspect(std::string const& path, std::string const& machine);
Status run_doctor(std::string const& directory);
Status run_print_config(std::string const& input, std::vector<std::string> const& overrides);

}  // namespace spillway
