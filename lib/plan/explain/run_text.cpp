#include "plan/explain/run_text.hpp"

#include <fmt/core.h>

#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "plan/time/drive_use.hpp"

namespace spillway {
namespace {

// Returns a part of the drives' life such as "12 % of" or, where they do not last, "3.4 times".
std::string wear_text(double wear) {
  if (wear >= 1) return fmt::format("{} times", human_number(wear, 2));
  return fmt::format("{} % of", human_number(100 * wear, 2));
}

std::string time_line(RunCost const& run) {
  auto const head =
      fmt::format("A run of {} tokens: {:.0f} steps", tokens_text(run.tokens), run.steps);
  if (run.seconds <= 0) return "\n" + head + "; nobody knows how long each takes\n";
  auto const times =
      fmt::format(" take {}, of which {} are for {:.0f} checkpoints", human_duration(run.seconds),
                  human_duration(run.checkpoints_s), run.checkpoints);
  return "\n" + wrapped_line(head + times);
}

std::string wear_line(RunCost const& run, Machine const& machine) {
  if (run.written_bytes == 0) return "";
  auto const line =
      fmt::format("  drives  {} written on each node: {} their life as rated, {} it with {}",
                  drive_bytes(run.written_bytes), wear_text(run.rated_wear),
                  wear_text(run.used_wear), wear_words(machine));
  return wrapped_line(line, std::string(10, ' '));
}

std::string energy_line(RunCost const& run, Machine const& machine) {
  if (machine.power_w <= 0) return "  energy  not known: power_w in the machine file says it\n";
  return fmt::format("  energy  {} kWh, at {:.4g} W a rank\n", amount_text(run.energy_kwh),
                     machine.power_w);
}

std::string price_line(RunCost const& run, Machine const& machine) {
  if (machine.price_per_hour <= 0)
    return "  price   not known: price_per_hour in the machine file says it\n";
  return fmt::format("  price   {}, at {:.4g} an hour a rank\n", amount_text(run.price),
                     machine.price_per_hour);
}

}  // namespace

std::string amount_text(double amount) {
  constexpr double million = 1e6;
  if (amount >= million - 0.5) return human_number(amount / million, 3) + " million";
  return human_number(amount, 3);
}

std::string tokens_text(double tokens) {
  constexpr struct {
    double factor;
    char const* name;
  } units[] = {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}};
  for (auto const& unit : units) {
    if (tokens >= 0.9995 * unit.factor) return human_number(tokens / unit.factor, 3) + unit.name;
  }
  return human_number(tokens, 3);
}

std::string run_text(RunCost const& run, Machine const& machine) {
  auto const text = time_line(run) + wear_line(run, machine);
  if (run.seconds <= 0) return text;
  return text + energy_line(run, machine) + price_line(run, machine);
}

}  // namespace spillway
