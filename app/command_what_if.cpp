#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>

#include "app/commands.hpp"
#include "app/json_text.hpp"
#include "app/plan_json.hpp"
#include "app/plan_once.hpp"
#include "base/cannot_start.hpp"
#include "base/count.hpp"
#include "base/process_memory.hpp"
#include "base/standard_streams.hpp"
#include "base/work_progress.hpp"
#include "plan/explain/answers.hpp"
#include "run/run_question.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

struct Answer {
  std::int64_t micro = 1;
  Budgets budgets;
  PlanCost now;
  std::vector<ChangedCost> rows;
};

// Asks about all changes, each in a search of its own, as many at a time as there are cores.
std::vector<ChangedCost> costs_with(PlanQuestion const& question, CostedPlan const& now) {
  std::vector<ChangedCost> rows;
  for (auto& change : what_ifs(question)) rows.push_back({std::move(change), {}});
  WorkProgress progress({"plan", "plans", std::ssize(rows)});
  progress.at(0);
  std::mutex one_speaks;
  std::atomic<std::size_t> next = 0;
  auto const work = [&] {
    for (auto at = next++; at < rows.size(); at = next++) {
      rows[at].cost = cost_with(question, now, rows[at].change);
      std::scoped_lock const lock(one_speaks);
      progress.add(1);
    }
  };
  std::vector<std::future<void>> workers;
  auto const count =
      std::min<std::size_t>(rows.size(), static_cast<std::size_t>(available_cores()));
  for (std::size_t i = 0; i < count; ++i)
    workers.push_back(start_threads([&] { return std::async(std::launch::async, work); }));
  for (auto& worker : workers) worker.get();
  return rows;
}

// If nothing fits, takes less memory by what is free, as a run does.
Answer answer(Config const& config, std::int64_t vocab, Target const& target) {
  for (auto choices = target.choices;;) {
    auto const graphs = run_graphs(config, vocab, target, choices);
    auto const question = run_question(config, target, graphs);
    try {
      auto const now = best_plan(question);
      auto const less = with_less_memory(choices);
      if (now.cost.fits || !less)
        return {choices.micro, target.budgets, now.cost, costs_with(question, now)};
      choices = *less;
    } catch (std::invalid_argument const& error) {
      throw Error(Status::bad_input, error.what());
    }
  }
}

std::string json_of(Answer const& answer) {
  Json json = cost_json(answer.now, answer.budgets);
  json["micro"] = answer.micro;
  auto& all = json["what_if"] = Json::object();
  for (auto const& [change, cost] : answer.rows) {
    auto& one = all[std::string(change.name)] = cost_json(cost, change.budgets);
    bool const both = cost.fits && answer.now.fits && cost.step_s > 0 && answer.now.step_s > 0;
    one["ratio"] = both ? Json(cost.step_s / answer.now.step_s) : Json(nullptr);
  }
  return json_text(json);
}

}  // namespace

Status run_what_if(PlanArguments const& arguments) {
  if (arguments.asks_for_one_plan() || !arguments.largest.empty() || arguments.tokens > 0)
    throw Error(Status::bad_input,
                "--what-if makes many plans: --items, --compare, --save, --trace, --largest and "
                "--tokens do not go with it");
  auto const given = config_of(arguments, arguments.overrides);
  auto const vocab = vocabulary(given, !arguments.machine.empty());
  Planner planner;
  auto const [config, target] = planner.target(arguments, given, vocab);
  auto const told = answer(config, vocab, target);
  auto const micro = count(told.micro, "sequence");
  print_result(arguments.json ? json_of(told)
                              : what_if_text(told.now, told.budgets, told.rows, micro));
  return told.now.fits ? Status::done : Status::cannot_fit;
}

}  // namespace spillway
