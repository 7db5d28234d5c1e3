// Parses the command line, owns MPI, and turns every error into an exit status.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/kokkos_words.hpp"
#include "app/number_list.hpp"
#include "app/token_count.hpp"
#include "app/version_text.hpp"
#include "base/cannot_give.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "base/standard_streams.hpp"
#include "comm/mpi_scope.hpp"
#include "comm/on_all_ranks.hpp"
#include "config/assign.hpp"
#include "io/file/descriptors.hpp"
#include "io/file/partial.hpp"
#include "job/signals.hpp"
#include "kernels/host/team/team.hpp"

namespace {

using namespace spillway;

// CLI11 calls these checks with the text of an option. Each returns what is wrong, or "".
std::string is_path(std::string const& path) {
  return path.empty() ? "'' is no name of a file or a directory" : "";
}
std::string is_seed(std::string const& text) {
  if (to_number<std::uint64_t>(text)) return "";
  return fmt::format("'{}' is no whole number from 0 to 2^64 - 1", text);
}
std::string is_temperature(std::string const& text) {
  auto const value = to_number<double>(text);
  if (value && std::isfinite(*value) && *value >= 0) return "";
  return fmt::format("'{}' is no number from 0 on", text);
}

std::string is_share(std::string const& text) {
  auto const value = to_number<double>(text);
  if (value && *value > 0 && *value <= 1) return "";
  return fmt::format("'{}' is no number above 0 and up to 1", text);
}
std::string is_stop_text(std::string const& text) {
  return text.empty() ? "an empty text would end every text" : "";
}

// Prints an error and returns the exit status. Ends all ranks that may not know of the error.
int report(std::exception const& error, std::unique_ptr<Comm> const& comm) {
  if (dynamic_cast<std::bad_alloc const*>(&error) != nullptr) return report(no_more_memory(), comm);
  auto const* ours = dynamic_cast<Error const*>(&error);
  auto const status = ours != nullptr ? static_cast<int>(ours->status()) : 1;
  auto const where = comm && comm->size() > 1 ? fmt::format("rank {}: ", comm->rank()) : "";
  auto const* what = error.what();
  if (*what != '\0') say(fmt::format("spillway: {}{}{}", where, ours ? "" : "internal: ", what));
  bool const alone =
      !comm || comm->size() == 1 || dynamic_cast<AgreedError const*>(&error) != nullptr;
  if (!alone) comm->abort(status);  // ends other ranks, which may wait in a collective
  return status;
}

CLI::Option* offer_numbers(CLI::App& command, std::string const& name,
                           std::vector<std::int64_t>& numbers, std::string const& about,
                           std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                           std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  return command
      .add_option_function<std::string>(
          name, [&numbers](std::string const& text) { numbers = number_list(text); }, about)
      ->check([=](std::string const& text) { return wrong_in_list(text, least, most); });
}

void offer_force(CLI::App& command, bool& force, std::string const& about) {
  command.add_flag("--force", force, about);
}
constexpr auto kForceFile = "replace the file also if this program did not make it";
constexpr auto kForceDirectory = "replace such a directory, if nothing else lies in it";

// A Request is the command that the command line asks for: `ranked` if it runs under MPI, otherwise
// `plain`. A command sets only one of them.
struct Request {
  std::function<Status()> plain;
  std::function<Status(Comm&)> ranked;
};

void offer_ranked(CLI::App& app, Request& request, TrainArguments& train, EvalArguments& eval) {
  auto* command = app.add_subcommand("train", "train as an input file says");
  command->add_option("input", train.input, "input file")->required()->check(is_path);
  command->add_option("overrides", train.overrides, "key=value, after the file; the last one wins");
  command->footer(
      "A value is taken as it stands. Lists stand in brackets: data.train=[a.h5,b.h5]. In paths\n"
      "$VAR and a leading ~/ are expanded. --kokkos-tools-libs=FILE loads a tool of Kokkos\n"
      "(docs/trace.md).");
  command->callback([&] {
    install_stop_signals();  // a batch system may send a signal before MPI has started
    request.ranked = [&](Comm& comm) { return run_train(train, comm); };
  });

  command = app.add_subcommand("eval", "loss and perplexity on the validation set");
  command->add_option("input", eval.input, "input file")->required()->check(is_path);
  command->add_option("overrides", eval.overrides, "key=value");
  command->add_option("--checkpoint", eval.checkpoint, "checkpoint, or a run directory: its newest")
      ->required()
      ->check(is_path);
  command->add_option("--batches", eval.batches, "how many at most; without it: the whole set")
      ->check(CLI::Range(std::int64_t{1}, kMostBatches));
  command->callback([&] { request.ranked = [&](Comm& comm) { return run_eval(eval, comm); }; });
}

void offer_profile(CLI::App& app, Request& request, ProfileArguments& profile) {
  auto* command = app.add_subcommand("profile", "measure ops and links of this machine");
  command->add_option("input", profile.input, "input file")->required()->check(is_path);
  command->add_option("overrides", profile.overrides, "key=value");
  command->add_option("-o,--output", profile.output, "machine file to write")
      ->required()
      ->check(is_path);
  offer_force(*command, profile.force, kForceFile);
  command->callback([&] {
    end_on_signals_without_partials();
    request.ranked = [&](Comm& comm) { return run_profile(profile, comm); };
  });
}

void offer_rok(CLI::App& app, Request& request, RokArguments& rok) {
  auto* command = app.add_subcommand(
      "rok", "recompute / offload / keep curve: device peak against step time, measured");
  command->add_option("input", rok.input, "input file")->required()->check(is_path);
  command->add_option("overrides", rok.overrides, "key=value");
  command
      ->add_option("-o,--output", rok.output,
                   "CSV file to write, and the chart beside it, *.svg; either may be named")
      ->capture_default_str()
      ->check(is_path);
  command->add_option("--svg", rok.svg, "the chart, where it is not to lie beside the table")
      ->check(is_path);
  offer_force(*command, rok.force, "replace these files also if this program did not make them");
  offer_numbers(
      *command, "--micro", rok.micros,
      "sequences per step, e.g. 1,2,4; without it: batch.micro, half of it and the double", 1,
      1 << 20);
  command->add_option("--steps", rok.steps, "per point, of which the first is not counted")
      ->check(CLI::Range(4, 1000))
      ->capture_default_str();
  command->footer(
      "Trains for a few steps at every point, one process and one micro-batch a step: with all\n"
      "layers' activations treated alike, and as the planner decides within three budgets. Only\n"
      "activations differ: other places that are `auto` stay on the device. Without data.train\n"
      "tokens are random, and model.vocab must be given. Nothing is kept but the curve.");
  command->callback([&] {
    end_on_signals_without_partials();
    request.ranked = [&](Comm& comm) { return run_rok(rok, comm); };
  });
}

void offer_plan(CLI::App& app, Request& request, PlanArguments& plan) {
  auto* command =
      app.add_subcommand("plan", "plan a run, for this machine or one that is not here");
  command->add_option("input", plan.input, "input file")->required()->check(is_path);
  command->add_option("overrides", plan.overrides, "key=value");
  command->add_option("--machine", plan.machine, "machine file; without it: this machine")
      ->check(is_path);
  offer_numbers(*command, "--ranks", plan.all_ranks,
                "of the run [1]; several, such as 1,2,4, make a table", 1, kMostRanks);
  command->add_flag("--json", plan.json, "for programs: JSON, and nothing else, on stdout");
  command->add_option("--save", plan.save, "file to write the plan to, as YAML for plan.file")
      ->check(is_path);
  command
      ->add_option("--trace", plan.trace,
                   "file to write the predicted step to, as a trace for Perfetto (docs/trace.md)")
      ->check(is_path);
  offer_force(*command, plan.force, kForceFile);
  command->add_flag("--compare", plan.compare,
                    "what other plans would cost, and what 1 GiB more would buy; takes longer");
  command->add_flag("--what-if", plan.what_if,
                    "instead, a table of what twice the memory, one more drive, faster links and "
                    "no clipping would change");
  command->add_flag("--items", plan.items,
                    "instead, every item of a step: its lane, its buffers, what it waits for");
  command
      ->add_option_function<std::string>(
          "--tokens", [&plan](std::string const& text) { plan.tokens = token_count(text); },
          "also how long a run over so many tokens takes, such as 100B, and what: energy, price "
          "and the drives' life")
      ->check(wrong_token_count)
      ->type_name("COUNT");
  command->add_option("--largest", plan.largest,
                      "instead, the largest value of this key that fits, and the fastest one: "
                      "model.layers, batch.micro, data.sequence");
  command
      ->add_option("--budgets", plan.budgets,
                   "instead, a table of plans by budget: device=8,12,16GiB, host=64,128GiB or "
                   "nvme=none,1TiB; may be given for each of them")
      ->allow_extra_args(false)
      ->type_name("TIER=LIST");
  command
      ->add_option("--machines", plan.machines,
                   "instead, a table of plans by machine: files with commas between them; with "
                   "--budgets or several --ranks, all combinations")
      ->check(is_path);
  command->callback([&] {
    end_on_signals_without_partials();
    if (!plan.all_ranks.empty()) plan.ranks = plan.all_ranks.front();
    request.plain = [&] { return run_plan(plan); };
  });
}

// The first word is the checkpoint if no option names it.
void take_checkpoint(GenerateArguments& generate) {
  if (!generate.checkpoint.empty()) return;
  auto& words = generate.overrides;
  if (words.empty() || words.front().find('=') != std::string::npos)
    throw CLI::RequiredError("a checkpoint or a run directory");
  generate.checkpoint = words.front();
  words.erase(words.begin());
}

void offer_generate(CLI::App& app, Request& request, GenerateArguments& generate) {
  constexpr std::int64_t most_tokens = 1'000'000'000;
  auto* command = app.add_subcommand("generate", "continue a prompt, or fill its gaps");
  command
      ->add_option("--checkpoint", generate.checkpoint,
                   "checkpoint, or a run directory: its newest; or give it without this word")
      ->check(is_path);
  auto* prompt = command->add_option("--prompt", generate.prompt, "text, for models of bytes");
  auto* ids = offer_numbers(*command, "--prompt-ids", generate.prompt_ids,
                            "instead, token ids such as 464,3290; prints ids, too")
                  ->excludes(prompt);
  command
      ->add_option("--prompts", generate.prompts,
                   "instead, a file with a text on each line or, called *.jsonl, an object such as "
                   "{\"prompt\": \"Once\"}; prints such objects, too")
      ->check(is_path)
      ->excludes(prompt)
      ->excludes(ids);
  command->add_option("--tokens", generate.tokens, "most tokens to add")
      ->check(CLI::Range(std::int64_t{1}, most_tokens))
      ->capture_default_str();
  command->add_option("--temperature", generate.temperature, "0: the likeliest token")
      ->check(is_temperature)
      ->capture_default_str();
  command->add_option("--top-k", generate.top_k, "draw from so many of the likeliest tokens alone")
      ->check(CLI::Range(std::int64_t{1}, most_tokens));
  command
      ->add_option("--top-p", generate.top_p,
                   "draw from the likeliest tokens alone that have this share of all chances")
      ->check(is_share);
  command
      ->add_option("--stop", generate.stops,
                   "text before which the generated one ends; may be given several times")
      ->allow_extra_args(false)
      ->check(is_stop_text);
  command->add_option("--seed", generate.seed, "of the draws")
      ->check(is_seed)
      ->capture_default_str();
  command
      ->add_option("--top", generate.top,
                   fmt::format("bert: how many fillings of each place [{}]", kFillings))
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--precision", generate.precision, "to compute in, over the checkpoint's own")
      ->check(CLI::IsMember({"bf16", "fp32"}));
  command->add_option("words", generate.overrides,
                      "checkpoint or run directory; ids of special tokens, such as "
                      "data.mask_id=103, over the checkpoint's own");
  command->footer(
      "gpt and llama continue the prompt until a text ends (data.eos_id, and the end tokens of\n"
      "the directory that the model was imported from). When all of gpt's positions are taken, it\n"
      "goes on from the last half of them; llama has as many as it needs.\n"
      "t5 reads the prompt, where <extra_id_0>, <extra_id_1> .. stand for what is to be told.\n"
      "bert prints what is likeliest at each [MASK] of the prompt, and how likely.");
  command->callback([&] {
    take_checkpoint(generate);
    request.plain = [&] { return run_generate(generate); };
  });
}

void offer_tokenize(CLI::App& app, Request& request, TokenizeArguments& tokenize) {
  auto* command = app.add_subcommand("tokenize", "text files -> an HDF5 token file");
  command->add_option("--tokenizer", tokenize.tokenizer, "byte")->check(CLI::IsMember({"byte"}));
  command->add_option("-o,--output", tokenize.output, "token file to write")
      ->required()
      ->check(is_path);
  offer_force(*command, tokenize.force, kForceFile);
  command->add_flag("--separator", tokenize.separator, "end every file with token 256");
  command->add_option("files", tokenize.files, "text files")->required()->check(is_path);
  command->callback([&] {
    end_on_signals_without_partials();
    request.plain = [&] { return run_tokenize(tokenize); };
  });
}

void offer_import(CLI::App& app, Request& request, ImportArguments& arguments) {
  auto* command = app.add_subcommand(
      "import", "a Hugging Face directory -> a checkpoint, and its model: section on stdout");
  command->add_option("directory", arguments.directory, "with config.json and safetensors")
      ->required()
      ->check(is_path);
  command->add_option("-o,--output", arguments.output, "checkpoint directory to make")
      ->required()
      ->check(is_path);
  offer_force(*command, arguments.force, kForceDirectory);
  command->footer(
      "The checkpoint is one for run.init, eval, generate and export. It carries the tokenizer's\n"
      "files and config.json, as do the checkpoints of a run that begins with it. What a model\n"
      "has that is not known here is refused by name.");
  command->callback([&] {
    end_on_signals_without_partials();
    request.plain = [&] { return run_import(arguments); };
  });
}

void offer_export(CLI::App& app, Request& request, ExportArguments& arguments) {
  auto* command = app.add_subcommand(
      "export", "a checkpoint -> a Hugging Face directory, which transformers loads");
  command
      ->add_option("checkpoint", arguments.checkpoint, "checkpoint, or a run directory: its newest")
      ->required()
      ->check(is_path);
  command->add_option("-o,--output", arguments.output, "directory to make")
      ->required()
      ->check(is_path);
  offer_force(*command, arguments.force, kForceDirectory);
  command
      ->add_option("--dtype", arguments.dtype,
                   "of all tensors; without it: as they were imported, else f32")
      ->check(CLI::IsMember({"f32", "bf16", "f16"}));
  command->callback([&] {
    end_on_signals_without_partials();
    request.plain = [&] { return run_export(arguments); };
  });
}

void offer_top(CLI::App& app, Request& request, std::string& run_dir) {
  auto* command = app.add_subcommand("top", "show a run while it goes on, here or elsewhere");
  command->add_option("run_dir", run_dir, "directory of a run")->required()->check(is_path);
  command->footer(
      "Draws once a second what the run's directory says: how far it is, losses, rates, lanes and\n"
      "memory. `q` or Ctrl-C ends it; the run does not notice. Without a terminal on stdout it\n"
      "prints once what is there.");
  command->callback([&] { request.plain = [&] { return run_top(run_dir); }; });
}

void offer_report(CLI::App& app, Request& request, ReportArguments& report) {
  auto* command =
      app.add_subcommand("report", "one HTML page about a run, or about several over each other");
  command->add_option("directory", report.directories, "run directories")
      ->required()
      ->check(is_path);
  command
      ->add_option("-o,--output", report.output,
                   "page to write; without it: report.html in the directory of one run")
      ->check(is_path);
  command
      ->add_option("--rok", report.rok,
                   "table that `spillway rok` wrote; without it: rok.csv of each run, if any")
      ->check(is_path);
  offer_force(*command, report.force, kForceFile);
  command->footer(
      "The page has all in it: curves, the plan, memory and lanes of a step, and what each rank\n"
      "and op took. It opens without a network. A run that goes on, or was killed, gives one, "
      "too.");
  command->callback([&] {
    end_on_signals_without_partials();
    request.plain = [&] { return run_report(report); };
  });
}

template <class Command>
int guarded(std::unique_ptr<Comm> const& comm, Command const& command) {
  set_up_log(!comm || comm->rank() == 0);
  try {
    return static_cast<int>(command());
  } catch (std::exception const& error) {
    return report(error, comm);
  }
}

// Runs `--print-config [input [overrides...]]`.
Status show_config(std::vector<std::string> const& words) {
  if (words.empty()) return run_print_config("", {});
  return run_print_config(words.front(), {words.begin() + 1, words.end()});
}

int refuse_without_command(CLI::App const& app, std::vector<std::string> const& words) {
  if (words.empty()) {
    say(app.help());
  } else {
    say(fmt::format("spillway: '{}' is no command; `spillway --help` lists them", words[0]));
  }
  return static_cast<int>(Status::bad_input);
}

// Returns a line about the first option that is not known but is a key, such as --learning_rate; ""
// if there is none, or the command takes no keys.
std::string key_as_option(CLI::App const& app) {
  for (auto const* command : app.get_subcommands()) {
    if (command->get_option_no_throw("input") == nullptr) continue;
    for (auto const& word : command->remaining()) {
      auto const advice = word.starts_with("--") ? key_for_option(word) : "";
      if (!advice.empty())
        return fmt::format("spillway: {}: no option; keys have no dashes, as in key=value: {}",
                           word, advice);
    }
  }
  return "";
}

// CLI11 throws a ParseError also if the user asked for help or the version. Prints what was asked
// for, or what is wrong with the command line.
Status tell(CLI::App const& app, CLI::ParseError const& error) {
  std::ostringstream asked, mistake;
  bool const fine = app.exit(error, asked, mistake) == 0;
  if (!asked.view().empty()) print_result(asked.view());
  auto const key = fine ? "" : key_as_option(app);
  if (!key.empty()) {
    say(key);
  } else if (!mistake.view().empty()) {
    say(mistake.view());
  }
  return fine ? Status::done : Status::bad_input;
}

int run_on_ranks(Request const& request, int& argc, char**& argv) {
  MpiScope const mpi(argc, argv);
  auto const comm = make_world_comm({});
  return guarded(comm, [&] { return request.ranked(*comm); });
}

int run(Request const& request, int& argc, char**& argv) {
  if (request.plain) return guarded(nullptr, request.plain);
  try {
    return run_on_ranks(request, argc, argv);
  } catch (Error const& error) {  // thrown if MPI does not start
    return report(error, nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  prepare_standard_streams();
  try {
    take_kokkos_words(argc, argv);
  } catch (Error const& error) {
    return report(error, nullptr);
  }
  allow_many_open_files();  // a data set may have thousands of files
  free_first_thread();
  CLI::App app("spillway trains transformers whose training state does not fit in device memory");
  app.set_version_flag("--version", version_text());
  Request request;
  TrainArguments train;
  EvalArguments eval;
  GenerateArguments generate;
  TokenizeArguments tokenize;
  std::string path, machine;
  std::vector<std::string> directories = {"."};
  std::vector<std::string> words;
  bool print_config = false;
  offer_ranked(app, request, train, eval);
  ProfileArguments profile;
  PlanArguments plan;
  RokArguments rok;
  offer_profile(app, request, profile);
  offer_plan(app, request, plan);
  offer_rok(app, request, rok);
  offer_generate(app, request, generate);
  offer_tokenize(app, request, tokenize);
  ImportArguments import;
  ExportArguments exported;
  offer_import(app, request, import);
  offer_export(app, request, exported);
  ReportArguments report_page;
  offer_report(app, request, report_page);
  auto* inspect = app.add_subcommand(
      "inspect",
      "describe a run, a checkpoint, weights of Hugging Face, a token file, a plan or a Program");
  inspect->add_option("path", path, "what to look at")->required()->check(is_path);
  inspect->add_option("--machine", machine, "of a Program: machine file, for its time there")
      ->check(is_path);
  inspect->callback([&] { request.plain = [&] { return run_inspect(path, machine); }; });
  std::string watched;
  offer_top(app, request, watched);
  auto* doctor = app.add_subcommand("doctor", "probe this machine and say what to change");
  doctor->add_option("directory", directories, "where spill files would go")->check(is_path);
  doctor->callback([&] { request.plain = [&] { return run_doctor(directories); }; });
  app.add_flag("--print-config", print_config, "every key: value, default, unit, bounds, meaning");
  app.add_option("input", words, "input file (and key=value) whose values --print-config shows");
  app.require_subcommand(0, 1);

  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& error) {
    return guarded(nullptr, [&] { return tell(app, error); });
  } catch (Error const& error) {  // thrown if the thread that handles signals cannot start
    return report(error, nullptr);
  }
  if (print_config) request.plain = [&] { return show_config(words); };
  if (!request.plain && !request.ranked) return refuse_without_command(app, words);
  return run(request, argc, argv);
}
