#include "run/plan_run.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/math.hpp"
#include "base/process_memory.hpp"
#include "base/steady_clock.hpp"
#include "base/units.hpp"
#include "io/file/file.hpp"
#include "io/spill/spill_file.hpp"
#include "run/existing_memory.hpp"

namespace spillway {
namespace {

// The share of free memory that an `auto` budget takes; the process and the machine need the rest.
constexpr double kAutoShare = 0.8;
// The same of a device's memory: events, and what libraries take late.
constexpr double kDeviceShare = 0.95;

// Names the budgets that are too small, as they are; `node_ranks` share what may be written a day.
std::string short_budgets(Need const& need, Budgets const& budgets, MemoryConfig const& memory,
                          std::int64_t node_ranks) {
  auto const missing = missing_bytes(need.peak_bytes, budgets);
  std::vector<std::string> texts;
  for (Tier const tier : {Tier::device, Tier::host, Tier::nvme})
    if (missing[tier] > 0)
      texts.push_back(
          fmt::format("memory.{} = {}", name(tier), human_bytes(budgets.*budget_of(tier))));
  auto const asked_bytes = memory.nvme_bytes_here();
  if (missing[Tier::nvme] > 0 && budgets.nvme_bytes < asked_bytes)
    texts.back() +=
        fmt::format(" ({} has no {})", memory.nvme_path_here(), human_bytes(asked_bytes));
  if (need.nvme_bytes_per_s > 0) {
    auto const a_day = budgets.nvme_bytes_per_s * kDayS * static_cast<double>(node_ranks);
    texts.push_back(
        fmt::format("spill.max_write_per_day = {}", human_bytes(static_cast<std::int64_t>(a_day))));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

[[noreturn]] void refuse(Solution const& solution, Graph const& graph, double smallest_step_s,
                         Budgets const& budgets, MemoryConfig const& memory,
                         std::int64_t node_ranks) {
  auto const& need = solution.smallest;
  throw Error(Status::cannot_fit, fmt::format("{}: {}; its steps would take {}",
                                              short_budgets(need, budgets, memory, node_ranks),
                                              describe(need, graph, budgets, node_ranks),
                                              human_duration(smallest_step_s)));
}

// Returns what one rank's spill file may use; the file has spare pieces of its own besides.
std::int64_t spill_room(std::int64_t free_bytes, std::int64_t local_ranks) {
  return std::max<std::int64_t>(0, free_bytes / local_ranks - SpillSettings{}.spare_bytes);
}

}  // namespace

double write_limit(SpillConfig const& spill, std::int64_t local_ranks) {
  if (!spill.max_write_per_day_bytes) return Budgets{}.nvme_bytes_per_s;
  return static_cast<double>(*spill.max_write_per_day_bytes) / kDayS /
         static_cast<double>(local_ranks);
}

PlanRequest plan_request(Config const& config) {
  return {config.plan, config.optim.clip > 0 || config.optim.non_finite != "stop"};
}

Free free_here(Config const& config, Compute const& compute) {
  auto const path = config.memory.nvme_path_here();
  auto const memory = main_memory();
  Free free{memory.available_bytes, path.empty() ? 0 : free_bytes(path)};
  free.memory_total_bytes = memory.total_bytes;
  if (compute.device.has_own_memory()) {
    auto const properties = compute.device.properties();
    free.device_bytes = properties.free_bytes / compute.sharers;
    free.device_total_bytes = properties.memory_bytes / compute.sharers;
  }
  return free;
}

Budgets budgets(Config const& config, Free const& free, std::int64_t local_ranks) {
  auto const& memory = config.memory;
  require_existing(memory, {free.memory_total_bytes, free.device_total_bytes}, local_ranks);
  auto const share = static_cast<std::int64_t>(kAutoShare * static_cast<double>(free.memory_bytes) /
                                               static_cast<double>(local_ranks));
  bool const own = free.device_bytes.has_value();
  auto const host_bytes = own ? memory.host_bytes.value_or(share) : memory.host_bytes_here();
  auto const device_share =
      own ? static_cast<std::int64_t>(kDeviceShare * static_cast<double>(*free.device_bytes))
          : std::max<std::int64_t>(0, share - host_bytes);
  auto const nvme_bytes =
      std::min(memory.nvme_bytes_here(), spill_room(free.storage_bytes, local_ranks));
  return {memory.device_bytes.value_or(device_share), host_bytes,
          memory.nvme_path_here().empty() ? 0 : nvme_bytes, write_limit(config.spill, local_ranks)};
}

std::int64_t fastest_micro(Config const& config, std::int64_t vocab, Choices const& choices,
                           Budgets const& budgets, Machine const& machine, std::int64_t ranks) {
  constexpr double worthwhile = 0.95;
  auto const most = div_ceil(config.batch.sequences, ranks);
  if (most == 1) return choices.micro;
  auto const look = [&](std::int64_t micro) {
    auto const arithmetic =
        make_arithmetic(config, {choices.threads, micro}, ranks, machine.target);
    auto const graph = training_graph(config, vocab, arithmetic);
    auto const micro_batches = div_ceil(config.batch.sequences, micro * ranks);
    auto result =
        outlook({graph, nullptr, plan_request(config), budgets, machine, micro_batches, ranks},
                Shard::none);
    if (!result.fits) result.step_s = std::numeric_limits<double>::infinity();
    return result;
  };
  try {
    auto best = choices.micro;
    auto now = look(best);
    for (bool const larger : {false, true}) {
      bool const went_down = larger && best != choices.micro;
      while (!now.as_asked && !went_down) {
        auto const next = larger ? 2 * best : best / 2;
        if (next < 1 || next > most) break;
        auto const other = look(next);
        bool const may_fit_yet = !now.fits && !larger;
        if (other.step_s >= worthwhile * now.step_s && !may_fit_yet) break;
        best = next;
        now = other;
      }
    }
    return now.fits ? best : choices.micro;
  } catch (std::invalid_argument const& error) {
    throw Error(Status::bad_input, error.what());
  }
}

PlannedRun plan_run(Config const& config, std::int64_t vocab, Choices choices, bool micro_is_free,
                    Budgets const& budgets, Machine const& machine, std::int64_t ranks) {
  for (;; choices.micro /= 2) {
    auto const arithmetic = make_arithmetic(config, choices, ranks, machine.target);
    auto train = training_graph(config, vocab, arithmetic);
    std::optional<Graph> eval;
    if (!config.data.valid.empty()) eval = eval_graph(config, vocab, arithmetic);
    auto const micro_batches = div_ceil(config.batch.sequences, choices.micro * ranks);
    try {
      auto const begin = SteadyClock::now();
      PlanQuestion const question{
          train, eval ? &*eval : nullptr, plan_request(config), budgets, machine, micro_batches,
          ranks};
      auto solution = solve(question);
      if (solution.chosen) {
        return {std::move(train),
                std::move(eval),
                std::move(solution.chosen->plan),
                std::move(solution.chosen->compiled),
                solution.looked_at,
                solution.compiled,
                seconds_since(begin)};
      }
      if (!micro_is_free || choices.micro == 1) {
        auto const s = simulated_step_s(question, solution.smallest.plan);
        refuse(solution, train, s, budgets, config.memory,
               std::min<std::int64_t>(ranks, machine.node_ranks));
      }
    } catch (std::invalid_argument const& error) {
      throw Error(Status::bad_input, error.what());
    }
  }
}

}  // namespace spillway
