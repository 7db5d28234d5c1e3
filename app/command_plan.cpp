#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "app/commands.hpp"
#include "app/json_text.hpp"
#include "app/output_kinds.hpp"
#include "app/plan_json.hpp"
#include "app/plan_once.hpp"
#include "app/plan_table.hpp"
#include "app/rows_text.hpp"
#include "app/run_answer.hpp"
#include "app/train_head.hpp"
#include "base/count.hpp"
#include "base/process_memory.hpp"
#include "base/standard_streams.hpp"
#include "model/model.hpp"
#include "plan/data/plan.hpp"
#include "plan/explain/answers.hpp"
#include "plan/explain/compare.hpp"
#include "plan/explain/explain.hpp"
#include "plan/explain/run_text.hpp"
#include "plan/listing/listing.hpp"
#include "plan/time/simulate.hpp"
#include "run/existing_memory.hpp"
#include "run/plan_run.hpp"
#include "samples/batch_shape.hpp"
#include "samples/recipe.hpp"
#include "state/restored_start.hpp"
#include "state/resume.hpp"
#include "train/save_time.hpp"

namespace spillway {
namespace {

PlanQuestion question(Config const& config, Target const& target, PlannedRun const& planned) {
  auto const& program = planned.programs.train;
  auto const shape = batch_shape(config.batch, planned.train.arithmetic.micro, 0, program.ranks);
  return {planned.train,        planned.eval ? &*planned.eval : nullptr,
          plan_request(config), target.budgets,
          target.machine,       program.micro_batches,
          program.ranks,        shape.fewer(),
          target.nodes_alike};
}

// Returns the output at `path`, or nothing if the user named none.
std::optional<Output> output(std::string const& path, OutputKind const& kind,
                             PlanArguments const& arguments, Config const& config) {
  if (path.empty()) return {};
  auto inputs = files_read(arguments.input, config);
  if (!arguments.machine.empty()) inputs.emplace_back(arguments.machine);
  return Output(path, {kind, std::move(inputs), arguments.force});
}

// Puts what is trained behind the verdict, which comes first.
std::string with_rows(std::string explanation, std::string const& rows) {
  auto const end = explanation.find("\n\n");
  if (!rows.empty() && end != explanation.npos) explanation.insert(end + 1, "\n" + rows);
  return explanation;
}

// Returns a text about the chosen plan, the other plans if `compares`, and the search.
std::string text_of(PlanReport const& report, bool compares) {
  auto const& planned = report.planned;
  auto const shape = batch_shape(report.config.batch, planned.train.arithmetic.micro, 0,
                                 planned.programs.train.ranks);
  auto text = with_rows(report.explanation, report.rows) + rows_text(shape) +
              describe(estimate_save(planned.train, leaves_base(report.config.run), report.machine,
                                     planned.programs.train.ranks));
  if (report.run) text += run_text(*report.run, report.machine);
  auto const& program = planned.programs.train;
  PlanCost chosen{true, program.peak_bytes, report.simulation.step_s};
  if (compares) chosen.chain_s = chain_seconds(program, report.simulation);
  text += why_not_text(report.why_not, chosen, report.budgets, report.simulation);
  if (compares) {
    text += compare(chosen, report.others, report.budgets);
  } else {
    text += kHowToCompare;
  }
  return text + fmt::format("\nSearched {} and compiled {} in {:.0f} ms.\n",
                            count(planned.estimated, "plan"), planned.compiled,
                            1e3 * planned.search_s);
}

// Refuses weights and ids of special tokens that train would refuse to begin with, unless the run
// goes on with a checkpoint of its own.
void require_start(Config const& config, std::int64_t vocab) {
  std::error_code ignored;  // what cannot be looked at is told by the run
  if (std::filesystem::exists(std::filesystem::path(config.run.dir) / "latest", ignored)) return;
  if (auto const init = find_init(config, vocab); init && init->imported)
    require_own_ids(config.data, objective_of(config));
}

// Plans the run. With --json, a refusal is told to programs on stdout, too.
PlannedTarget plan_or_refuse(Planner& planner, PlanArguments const& arguments, Config const& given,
                             std::int64_t vocab) {
  try {
    return planner.plan(arguments, given, vocab);
  } catch (Error const& error) {
    if (arguments.json && error.status() == Status::cannot_fit)
      print_result(json_text({{"fits", false}, {"why", error.what()}}));
    throw;
  }
}

// Returns what is asked of the plan that was found.
std::string answer(PlanArguments const& arguments, PlannedTarget const& found,
                   Simulation const& simulation) {
  auto const& [config, target, planned] = found;
  auto const& program = planned.programs.train;
  if (arguments.items) return arguments.json ? to_json(program) : items_text(program);
  auto const shape = batch_shape(config.batch, planned.train.arithmetic.micro, 0, arguments.ranks);
  auto const bound = bound_of(planned, config, target.machine, target.budgets, simulation.step_s);
  auto const path = shares(program, critical_path(program, simulation));
  PlanReport report{
      config,
      planned,
      simulation,
      target.machine,
      target.budgets,
      bound,
      explain(planned.train, planned.plan, program, simulation, path, target.machine,
              target.budgets, {shape.filled_of_most(), !shape.fewer().empty()}, bound)};
  if (arguments.tokens > 0)
    report.run = run_of(arguments.tokens, config, planned, simulation, target.machine);
  auto const asked = question(config, target, planned);
  report.why_not = why_not(asked, {planned.plan, planned.programs.train, simulation.step_s});
  if (arguments.json || arguments.compare) {
    report.others.alternatives = alternatives(asked);
    report.others.shardings = shardings(asked);
  }
  if (arguments.compare) report.others.more = one_more_gib(asked);
  if (arguments.json) return to_json(report);
  auto const data = data_here(config);
  report.rows = planned_rows_of(
      {config, planned, simulation, target.machine, target.budgets, leaves_base(config.run)},
      data ? &*data : nullptr);
  return text_of(report, arguments.compare);
}

}  // namespace

Status run_plan(PlanArguments const& arguments) {
  if (asks_for_table(arguments)) return run_table(arguments);
  if (arguments.what_if) return run_what_if(arguments);
  if (!arguments.largest.empty()) return run_largest(arguments);
  if (arguments.items && (arguments.compare || arguments.tokens > 0))
    throw Error(Status::bad_input,
                "--items prints this plan alone: --compare and --tokens do not go with it");
  auto const given = config_of(arguments, arguments.overrides);
  auto const saved = output(arguments.save, kPlanOutput, arguments, given);
  auto const traced = output(arguments.trace, kTraceOutput, arguments, given);
  auto const vocab = vocabulary(given, !arguments.machine.empty());
  if (arguments.machine.empty()) require_start(given, vocab);
  Planner planner;
  auto const found = plan_or_refuse(planner, arguments, given, vocab);
  auto const& [config, target, planned] = found;
  if (arguments.machine.empty()) {
    auto const warning =
        overcommitted(planned.programs.train.peak_bytes, target.machine.is_unified(),
                      available_memory_bytes(), arguments.ranks);
    if (!warning.empty()) say(warning);
  }
  if (saved) write_output(*saved, std::string(kPlanHead) + to_yaml(planned.plan, planned.train));
  auto const simulation = simulate(planned.programs.train, target.machine);
  if (traced) write_output(*traced, predicted_trace(planned.programs.train, simulation));
  print_result(answer(arguments, found, simulation));
  for (auto const* output : {&saved, &traced})
    if (*output) say_wrote(**output);
  return Status::done;
}

}  // namespace spillway
