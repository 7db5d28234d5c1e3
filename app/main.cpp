// Parses the command line, owns MPI, and turns every error into an exit status.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/help_format.hpp"
#include "app/kokkos_words.hpp"
#include "app/offers.hpp"
#include "app/version_text.hpp"
#include "base/log.hpp"
#include "base/standard_streams.hpp"
#include "comm/mpi_scope.hpp"
#include "comm/on_all_ranks.hpp"
#include "config/assign.hpp"
#include "io/file/descriptors.hpp"
#include "kernels/host/team/team.hpp"

namespace {

using namespace spillway;

// Prints an error and returns the exit status. Ends all ranks that may not know of the error.
int report(std::exception const& error, std::unique_ptr<Comm> const& comm) {
  auto const [status, what, is_ours] = failure_of(error);
  auto const where = comm && comm->size() > 1 ? fmt::format("rank {}: ", comm->rank()) : "";
  if (!what.empty()) say(fmt::format("spillway: {}{}{}", where, is_ours ? "" : "internal: ", what));
  bool const alone =
      !comm || comm->size() == 1 || dynamic_cast<AgreedError const*>(&error) != nullptr;
  if (!alone) comm->abort(status);  // ends other ranks, which may wait in a collective
  return status;
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
    say(fmt::format("spillway: {}", mistake.view()));
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
  CLI::App app("spillway trains transformers whose training state does not fit in device memory",
               "spillway");
  app.formatter(std::make_shared<HelpFormat>());  // commands take it over
  app.set_version_flag("--version", version_text());
  Request request;
  TrainArguments train;
  EvalArguments eval;
  ProfileArguments profile;
  PlanArguments plan;
  RokArguments rok;
  GenerateArguments generate;
  TokenizeArguments tokenize;
  ImportArguments import;
  ExportArguments exported;
  ReportArguments page;
  InspectArguments inspected;
  std::string watched;
  std::vector<std::string> directories = {"."};
  std::vector<std::string> words;
  bool print_config = false;
  offer_train(app, request, train);
  offer_eval(app, request, eval);
  offer_profile(app, request, profile);
  offer_plan(app, request, plan);
  offer_rok(app, request, rok);
  offer_generate(app, request, generate);
  offer_tokenize(app, request, tokenize);
  offer_import(app, request, import);
  offer_export(app, request, exported);
  offer_report(app, request, page);
  offer_inspect(app, request, inspected);
  offer_top(app, request, watched);
  offer_doctor(app, request, directories);
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
