// Declares the commands on the command line: their options, and what runs when they are given.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "base/error.hpp"
#include "comm/comm.hpp"

namespace spillway {

// A Request is the command that the command line asks for: `ranked` if it runs under MPI, otherwise
// `plain`. A command sets only one of them.
struct Request {
  std::function<Status()> plain;
  std::function<Status(Comm&)> ranked;
};

struct InspectArguments {
  std::string path, machine;
};

// Each adds a command. When the command is given, its arguments are written to the last parameter
// and the Request is set. All parameters must outlive the parsing and the command.
void offer_train(CLI::App& app, Request& request, TrainArguments& train);
void offer_eval(CLI::App& app, Request& request, EvalArguments& eval);
void offer_profile(CLI::App& app, Request& request, ProfileArguments& profile);
void offer_rok(CLI::App& app, Request& request, RokArguments& rok);
void offer_plan(CLI::App& app, Request& request, PlanArguments& plan);
void offer_generate(CLI::App& app, Request& request, GenerateArguments& generate);
void offer_tokenize(CLI::App& app, Request& request, TokenizeArguments& tokenize);
void offer_import(CLI::App& app, Request& request, ImportArguments& arguments);
void offer_export(CLI::App& app, Request& request, ExportArguments& arguments);
void offer_report(CLI::App& app, Request& request, ReportArguments& report);
void offer_inspect(CLI::App& app, Request& request, InspectArguments& arguments);
void offer_top(CLI::App& app, Request& request, std::string& run_dir);
void offer_doctor(CLI::App& app, Request& request, std::vector<std::string>& directories);

}  // namespace spillway
