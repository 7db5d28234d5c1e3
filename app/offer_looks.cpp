#include "app/offers.hpp"
#include "app/shared_options.hpp"
#include "io/file/partial.hpp"

namespace spillway {

void offer_report(CLI::App& app, Request& request, ReportArguments& report) {
  auto* command =
      app.add_subcommand("report", "one HTML page about a run, or about several over each other");
  command->add_option("directory", report.directories, "run directories, or directories of runs")
      ->required()
      ->check(is_path);
  command
      ->add_option("-o,--output", report.output,
                   "page to write; without it: report.html in the one directory")
      ->check(is_path);
  command
      ->add_option("--rok", report.rok,
                   "table that `spillway rok` wrote; without it: rok.csv of each run, if any")
      ->check(is_path);
  offer_force(*command, report.force, kForceFile);
  command->footer(
      "The page has all in it: curves, the plan, memory and lanes of a step, and what each rank "
      "and op took. It opens without a network. A run that goes on, or was killed, gives one, "
      "too.");
  command->callback([&] {
    end_on_signals_without_partials();
    request.plain = [&] { return run_report(report); };
  });
}

void offer_inspect(CLI::App& app, Request& request, InspectArguments& arguments) {
  auto* command = app.add_subcommand("inspect",
                                     "describe a run, several runs, a checkpoint, weights of "
                                     "Hugging Face, a token file, a plan, a Program, a machine "
                                     "file or an input file");
  command->add_option("path", arguments.path, "what to look at")->required()->check(is_path);
  command
      ->add_option("--machine", arguments.machine, "of a Program: machine file, for its time there")
      ->check(is_path);
  command->callback(
      [&] { request.plain = [&] { return run_inspect(arguments.path, arguments.machine); }; });
}

void offer_top(CLI::App& app, Request& request, std::string& run_dir) {
  auto* command = app.add_subcommand("top", "show a run while it goes on, here or elsewhere");
  command->add_option("run_dir", run_dir, "directory of a run")->required()->check(is_path);
  command->footer(
      "Draws once a second what the run's directory says: how far it is, losses, rates, lanes and "
      "memory. `q` or Ctrl-C ends it; the run does not notice. Without a terminal on stdout it "
      "prints once what is there.");
  command->callback([&] { request.plain = [&] { return run_top(run_dir); }; });
}

void offer_doctor(CLI::App& app, Request& request, std::vector<std::string>& directories) {
  auto* command = app.add_subcommand("doctor", "probe this machine and say what to change");
  command->add_option("directory", directories, "where spill files would go; without one: here")
      ->check(is_path);
  command->footer("Ends with 2 where one of the directories takes no spill file.");
  command->callback([&] { request.plain = [&] { return run_doctor(directories); }; });
}

}  // namespace spillway
