#include <fmt/format.h>

#include <algorithm>

#include "app/commands.hpp"
#include "app/json_text.hpp"
#include "app/plan_once.hpp"
#include "app/run_answer.hpp"
#include "app/tried_plan.hpp"
#include "base/log.hpp"
#include "base/standard_streams.hpp"
#include "base/units.hpp"
#include "base/work_progress.hpp"
#include "base/wrapped.hpp"
#include "config/keys.hpp"
#include "plan/explain/run_text.hpp"
#include "run/largest_value.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

// Returns the integer that `key` names. Throws Error(bad_input) if it says nothing of sizes.
IntegerField size_of(Config& config, std::string const& key) {
  auto const keys = keys_of(config);
  auto const found = std::ranges::find(keys, key, &Key::name);
  bool const is_size =
      key.starts_with("model.") || key.starts_with("data.") || key.starts_with("batch.");
  if (found != keys.end() && is_size)
    if (auto const* const field = std::get_if<IntegerField>(&found->field)) return *field;
  throw Error(Status::bad_input,
              fmt::format("--largest: {}: no size; give model.layers, batch.micro, data.sequence "
                          "or another whole number of model, data or batch",
                          key));
}

// Plans with the value. One that the configuration does not allow, beside the first one, is only
// too large.
TriedValue tried(Planner& planner, PlanArguments const& arguments, std::int64_t value,
                 bool is_first, std::int64_t vocab) {
  auto overrides = arguments.overrides;
  overrides.push_back(fmt::format("{}={}", arguments.largest, value));
  auto const row = try_plan(planner, arguments, overrides, vocab);
  if (row.status == Status::bad_input && is_first) throw Error(row.status, row.why);
  return {value, row.fits(), row.step_s, row.tokens_per_s, row.why, row.run};
}

// Returns what a line says of the run over `tokens`, "" if none is asked for.
std::string run_part(RunCost const& run, double tokens) {
  if (tokens <= 0) return "";
  auto const known = [](double amount) { return amount > 0 ? amount_text(amount) : "?"; };
  return fmt::format("  {:>11}  {:>9}  {:>12}", run.seconds > 0 ? human_duration(run.seconds) : "?",
                     known(run.energy_kwh), known(run.price));
}

std::string text_of(std::string const& key, std::vector<TriedValue> const& all, double tokens) {
  auto text = fmt::format("{:>16}  {:>9}  {:>10}", key, "a step", "tokens/s");
  if (tokens > 0)
    text += fmt::format("  {:>11}  {:>9}  {:>12}", tokens_text(tokens) + " take", "kWh", "price");
  text += "\n";
  std::string const below(18, ' ');  // where the column of values ends
  for (TriedValue const& it : all)
    text += it.fits
                ? fmt::format("{:>16}  {:>9}  {:>10.0f}{}\n", it.value, human_duration(it.step_s),
                              it.tokens_per_s, run_part(it.run, tokens))
                : wrapped_line(fmt::format("{:>16}  {}", it.value, in_short(it.why)), below);
  return text + fmt::format("The largest that fits is {0}={1}, and the fastest {0}={2}.\n", key,
                            largest_of(all)->value, fastest_of(all)->value);
}

std::string json_of(std::string const& key, std::vector<TriedValue> const& all, double tokens) {
  Json json = {{"key", key},
               {"largest", largest_of(all)->value},
               {"fastest", fastest_of(all)->value},
               {"tried", Json::array()}};
  for (TriedValue const& it : all) {
    Json one = {{"value", it.value}, {"fits", it.fits}};
    if (it.fits)
      one.update({{"step_s", it.step_s}, {"tokens_per_s", it.tokens_per_s}});
    else
      one["why"] = it.why;
    if (it.fits && tokens > 0) one["run"] = run_json(it.run);
    json["tried"].push_back(std::move(one));
  }
  return json_text(json);
}

}  // namespace

Status run_largest(PlanArguments const& arguments) {
  if (arguments.asks_for_one_plan())
    throw Error(Status::bad_input,
                "--largest makes many plans: --items, --compare, --save and --trace do not go with "
                "it");
  auto config = config_of(arguments, arguments.overrides);
  auto const& key = arguments.largest;
  auto const size = size_of(config, key);
  auto const first = std::max<std::int64_t>(1, size.at.get());
  auto const vocab = vocabulary(config, !arguments.machine.empty());
  Planner planner;
  LinesOnce const once;
  WorkProgress progress({"plan", "plans"});
  std::int64_t done = 0;
  auto const all = try_values(first, size.max, [&](std::int64_t value) {
    progress.at(done++, fmt::format("{}={}", key, value));
    return tried(planner, arguments, value, value == first, vocab);
  });
  progress.clear();
  if (largest_of(all) == nullptr)
    throw Error(Status::cannot_fit,
                fmt::format("{}={}: {}", key, all.front().value, all.front().why));
  print_result(arguments.json ? json_of(key, all, arguments.tokens)
                              : text_of(key, all, arguments.tokens));
  return Status::done;
}

}  // namespace spillway
