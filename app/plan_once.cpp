#include "app/plan_once.hpp"

#include <fmt/core.h>

#include <tuple>

#include "app/device_backend.hpp"
#include "app/devices.hpp"
#include "base/standard_streams.hpp"
#include "config/load.hpp"
#include "huggingface/import_model.hpp"
#include "io/tokens/token_set.hpp"
#include "model/model.hpp"
#include "plan/data/plan.hpp"
#include "run/find_target.hpp"
#include "run/run_memory.hpp"
#include "samples/data.hpp"

namespace spillway {
namespace {

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

}  // namespace

Config config_of(PlanArguments const& arguments, std::vector<std::string> const& overrides) {
  auto const where = [&](Config const& config) {
    return arguments.machine.empty() ? where_it_computes(config) : ForMachine::other;
  };
  return load_config(arguments.input, overrides, where, import_model);
}

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

std::optional<Data> data_here(Config const& config) {
  auto const& [train, valid] = std::tie(config.data.train, config.data.valid);
  if (!names_files(train) || (!valid.empty() && !names_files(valid))) return {};
  try {
    return open_data(config);
  } catch (Error const& error) {
    if (error.status() != Status::bad_input) throw;
    say(fmt::format("{}; planned without data", error.what()));
    return {};
  }
}

// Returns the machine and the budgets that a rank finds if `ranks` ranks share this node.
Target Planner::this_machine(Config const& config, std::int64_t vocab, std::int64_t ranks) {
  require_spill_directory(config.memory);
  if (m_here)
    m_here->choose_for(config, *m_alone);
  else
    m_here.emplace(config, assumed_cores(ranks), nullptr, device_backend(config), *m_alone);
  auto const budgets = on_this_node(ranks, Status::bad_input,
                                    [&] { return common_budgets(config, *m_here, *m_alone); });
  return target_here(config, vocab, *m_here, budgets, *m_alone, m_cache);
}

AskedTarget Planner::target(PlanArguments const& arguments, Config config, std::int64_t vocab) {
  if (!config.plan.file.empty()) config.plan = load_plan(config.plan.file);
  auto const ranks = arguments.ranks;
  auto target = arguments.machine.empty() ? this_machine(config, vocab, ranks)
                                          : target_of_file(config, vocab, arguments.machine, ranks);
  return {std::move(config), std::move(target)};
}

PlannedTarget Planner::plan(PlanArguments const& arguments, Config given, std::int64_t vocab) {
  auto [config, target] = this->target(arguments, std::move(given), vocab);
  auto const planned_ranks = arguments.machine.empty() ? arguments.ranks : 1;
  auto planned =
      on_this_node(planned_ranks, Status::cannot_fit,
                   [&, &asked = config, &where = target] { return plan_run(asked, vocab, where); });
  return {std::move(config), std::move(target), std::move(planned)};
}

}  // namespace spillway
