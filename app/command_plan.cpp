#include <fmt/core.h>

#include <optional>
#include <utility>

#include "app/commands.hpp"
#include "app/device_backend.hpp"
#include "app/devices.hpp"
#include "app/output_kinds.hpp"
#include "app/plan_json.hpp"
#include "base/process_memory.hpp"
#include "base/standard_streams.hpp"
#include "config/load.hpp"
#include "huggingface/import_model.hpp"
#include "io/tokens/token_set.hpp"
#include "model/model.hpp"
#include "plan/data/plan.hpp"
#include "plan/explain/compare.hpp"
#include "plan/explain/explain.hpp"
#include "plan/listing/listing.hpp"
#include "plan/time/simulate.hpp"
#include "run/existing_memory.hpp"
#include "run/find_target.hpp"
#include "run/plan_run.hpp"
#include "run/run_memory.hpp"
#include "samples/batch_shape.hpp"
#include "samples/data.hpp"
#include "train/save_time.hpp"

namespace spillway {
namespace {

// Returns model.vocab or, if it is not set, the vocabulary of the token files. If a plan for
// another machine finds no token files here, returns the vocabulary of published models.
std::int64_t vocabulary(Config const& config, bool is_elsewhere) {
  if (config.model.vocab > 0) return config.model.vocab;
  if (names_files(config.data.train) || !is_elsewhere) {
    if (config.data.train.empty())
      throw Error(Status::bad_input, "model.vocab: give it, or data.train to take it from");
    return open_data(config).vocab;
  }
  auto const vocab = published_vocab(config.model.family);
  say(fmt::format(
      "model.vocab: no token file is here to take it from; planned with {}, as published "
      "models of the family {} have",
      vocab, word(config.model.family)));
  return vocab;
}

// Returns what `plan` returns. Errors of `plan` with `status` must mean too little memory. If there
// are several ranks, these errors also say that all ranks are assumed to share this node, and that
// --machine plans for several nodes.
template <class F>
auto on_this_node(std::int64_t ranks, Status status, F const& plan) {
  try {
    return plan();
  } catch (Error const& error) {
    if (ranks == 1 || error.status() != status) throw;
    throw Error(status, fmt::format("{}; here {} ranks share this node, --machine FILE plans for "
                                    "nodes like the one of that file",
                                    error.what(), ranks));
  }
}

// Returns the machine and the budgets that a rank finds if `ranks` ranks share this node.
Target this_machine(Config const& config, std::int64_t vocab, std::int64_t ranks) {
  require_spill_directory(config.memory);
  auto const alone = make_single_rank_comm();
  ComputeHere const here(config, assumed_cores(ranks), nullptr, device_backend(config), *alone);
  auto const budgets =
      on_this_node(ranks, Status::bad_input, [&] { return common_budgets(config, here, *alone); });
  return target_here(config, vocab, here, budgets, *alone);
}

PlanQuestion question(Config const& config, Target const& target, PlannedRun const& planned) {
  auto const& program = planned.programs.train;
  auto const shape = batch_shape(config.batch, planned.train.arithmetic.micro, 0, program.ranks);
  return {planned.train,        planned.eval ? &*planned.eval : nullptr,
          plan_request(config), target.budgets,
          target.machine,       program.micro_batches,
          program.ranks,        shape.fewer(),
          target.nodes_alike};
}

std::optional<Output> save_to(PlanArguments const& arguments, Config const& config) {
  if (arguments.save.empty()) return {};
  auto inputs = files_read(arguments.input, config);
  if (!arguments.machine.empty()) inputs.emplace_back(arguments.machine);
  return Output(arguments.save, {kPlanOutput, std::move(inputs), arguments.force});
}

// Returns a text about the chosen plan, the other plans if `compares`, and the search.
std::string text_of(PlanReport const& report, bool compares) {
  auto const& planned = report.planned;
  auto const shape = batch_shape(report.config.batch, planned.train.arithmetic.micro, 0,
                                 planned.programs.train.ranks);
  auto text = report.explanation + describe_share(shape) + describe_empty_rows(shape) +
              describe(estimate_save(planned.train, report.machine, planned.programs.train.ranks));
  if (compares) {
    PlanCost const chosen{true, planned.programs.train.peak_bytes, report.simulation.step_s};
    text += compare(chosen, report.others, report.budgets);
  } else {
    text += kHowToCompare;
  }
  return text + fmt::format("\nSearched {} plans and compiled {} in {:.0f} ms.\n",
                            planned.estimated, planned.compiled, 1e3 * planned.search_s);
}

}  // namespace

Status run_plan(PlanArguments const& arguments) {
  if (arguments.items && arguments.compare)
    throw Error(Status::bad_input, "--items prints this plan alone: --compare does not go with it");
  auto const where = [&](Config const& config) {
    return arguments.machine.empty() ? where_it_computes(config) : ForMachine::other;
  };
  auto config = load_config(arguments.input, arguments.overrides, where, import_model);
  auto const saved = save_to(arguments, config);
  if (!config.plan.file.empty()) config.plan = load_plan(config.plan.file);
  auto const vocab = vocabulary(config, !arguments.machine.empty());
  auto const ranks = arguments.ranks;
  auto const target = arguments.machine.empty()
                          ? this_machine(config, vocab, ranks)
                          : target_of_file(config, vocab, arguments.machine, ranks);
  auto const planned = on_this_node(arguments.machine.empty() ? ranks : 1, Status::cannot_fit,
                                    [&] { return plan_run(config, vocab, target); });
  if (arguments.machine.empty()) {
    auto const warning =
        overcommitted(planned.programs.train.peak_bytes, target.machine.is_unified(),
                      available_memory_bytes(), ranks);
    if (!warning.empty()) say(warning);
  }
  if (saved) write_output(*saved, std::string(kPlanHead) + to_yaml(planned.plan, planned.train));
  if (arguments.items) {
    auto const& program = planned.programs.train;
    print_result(arguments.json ? to_json(program) : items_text(program));
    return Status::done;
  }
  auto const simulation = simulate(planned.programs.train, target.machine);
  auto const shape = batch_shape(config.batch, planned.train.arithmetic.micro, 0, ranks);
  PlanReport report{
      config,
      planned,
      simulation,
      target.machine,
      target.budgets,
      explain(planned.train, planned.plan, planned.programs.train, simulation, target.machine,
              target.budgets, {shape.filled_of_most(), !shape.fewer().empty()})};
  auto const asked = question(config, target, planned);
  if (arguments.json || arguments.compare) {
    report.others.alternatives = alternatives(asked);
    report.others.shardings = shardings(asked);
  }
  if (arguments.compare) report.others.more = one_more_gib(asked);
  print_result(arguments.json ? to_json(report) : text_of(report, arguments.compare));
  return Status::done;
}

}  // namespace spillway
