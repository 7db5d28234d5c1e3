// Declares the commands of the program. Each returns the exit status or throws Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/steady_clock.hpp"
#include "comm/comm.hpp"

namespace spillway {

struct TrainArguments {
  std::string input;
  std::vector<std::string> overrides;
  SteadyClock::time_point begin = SteadyClock::now();  // when the process began
};
Status run_train(TrainArguments const& arguments, Comm& comm);

struct EvalArguments {
  std::string input;
  std::vector<std::string> overrides;
  std::vector<std::string> checkpoints;  // that are evaluated one after the other
  std::string base;                      // where their base is; "" means where they say
  std::optional<std::int64_t> batches;   // of each set, how many at most; if unset, all of them
  bool json = false;
};
inline constexpr std::int64_t kMostBatches = 1'000'000'000'000;
Status run_eval(EvalArguments const& arguments, Comm& comm);

inline constexpr std::int64_t kFillings = 5;
struct GenerateArguments {
  std::string checkpoint;
  std::string base;  // as in EvalArguments
  // Prompts are messages of a conversation, which goes on with stdin if none of these three is
  // given.
  bool chat = false;
  std::optional<std::string> system;     // the first message of a conversation
  std::optional<std::string> prompt;     // the text of the prompt; one of these three is given
  std::vector<std::int64_t> prompt_ids;  // the prompt as token ids
  std::string prompts;                   // path of a file with a prompt on each line
  std::int64_t tokens = 200;
  double temperature = 0.8;
  std::int64_t top_k = 0;  // 0 means all tokens
  double top_p = 1;
  std::vector<std::string> stops;  // texts before which a generated text ends
  std::uint64_t seed = 1;
  std::optional<std::int64_t> top;  // fillings to print for each [MASK]; if unset, kFillings
  std::string tokenizer;            // path of a tokenizer; "" means the checkpoint's own
  std::string precision;            // bf16 or fp32; "" means the checkpoint's own
  // data.*_id=N, which sets the id of a special token, and model.quantize
  std::vector<std::string> overrides;
};
Status run_generate(GenerateArguments const& arguments);

struct TokenizeArguments {
  std::string tokenizer = "byte";  // or the path of one
  std::string output;
  std::vector<std::string> files;  // or directories, or "-" for stdin
  std::string files_from;          // path of a list of more of these; "" means none
  std::string format = "auto";     // or text, jsonl, json or parquet
  std::string text_field;          // "" means what a record has
  std::string learn = "answers";   // or all: of records with a prompt or messages
  bool parse_special = false;      // special tokens in messages are such tokens
  bool separator = false;
  // In every struct of this file, `force` lets the command replace a file that this program did not
  // make. Import replaces a directory with `force` only if it holds nothing but a checkpoint,
  // export only if it holds nothing but a model.
  bool force = false;
};
Status run_tokenize(TokenizeArguments const& arguments);

struct ImportArguments {
  std::string directory;  // a directory in the format of Hugging Face
  std::string output;     // path of the checkpoint to write
  bool force = false;
};
Status run_import(ImportArguments const& arguments);

struct ExportArguments {
  std::string checkpoint;
  std::string base;     // as in EvalArguments
  std::string output;   // a directory in the format of Hugging Face
  std::string dtype;    // f32, bf16 or f16; "" means the types of an imported model, else f32
  bool merged = false;  // whether adapters are merged into the model, instead of written alone
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
  std::string output = "rok.csv";    // path of the table, or of the chart beside it (*.svg)
  std::string svg;                   // path of the chart; "" means beside the table
  std::vector<std::int64_t> micros;  // micro-batch sizes in sequences; if empty, see rok_micros()
  std::int64_t steps = 4;            // steps of each measured point; the first one is not timed
  bool force = false;
};
Status run_rok(RokArguments const& arguments, Comm& comm);

struct ReportArguments {
  std::vector<std::string> directories;  // of runs
  std::string output;                    // path of the page; "" means report.html in the directory
  std::string rok;                       // path of a rok.csv; "" means those of the runs
  bool force = false;
};
Status run_report(ReportArguments const& arguments);

inline constexpr std::int64_t kMostRanks = 1'000'000;
struct PlanArguments {
  std::string input;
  std::vector<std::string> overrides;
  std::string machine;  // path of a machine file; "" means this machine
  std::int64_t ranks = 1;
  bool json = false;
  bool compare = false;
  bool items = false;
  bool what_if = false;
  std::string save;   // path of the plan.yaml to write; "" means none
  std::string trace;  // path of the trace to write; "" means none
  bool force = false;
  std::string largest;  // the key whose largest value is sought; "" means none
  double tokens = 0;    // of a run whose time and cost are asked for; 0 means none
  // These ask for a table of plans: lists as the user gave them, and several numbers of ranks.
  std::vector<std::string> budgets;
  std::string machines;
  std::string optimizers;
  std::vector<std::int64_t> all_ranks;

  // Returns whether the command asks for what only one plan has.
  bool asks_for_one_plan() const { return items || compare || !save.empty() || !trace.empty(); }
};
Status run_plan(PlanArguments const& arguments);
Status run_largest(PlanArguments const& arguments);
Status run_table(PlanArguments const& arguments);
Status run_what_if(PlanArguments const& arguments);

Status run_inspect(std::string const& path, std::string const& machine);
Status run_top(std::string const& run_dir);
Status run_doctor(std::vector<std::string> const& directories);
Status run_print_config(std::string const& input, std::vector<std::string> const& overrides);

}  // namespace spillway
