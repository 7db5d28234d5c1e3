#include "plan/time/drive_use.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.hpp"

namespace spillway {

constexpr double kDaysPerYear = 365.25;

DriveUse drive_use(std::int64_t rank_step_bytes, double step_s, std::int64_t ranks,
                   Machine const& machine) {
  DriveUse use;
  use.step_bytes = static_cast<double>(rank_step_bytes) *
                   static_cast<double>(std::min(ranks, machine.node_ranks));
  if (use.step_bytes == 0 || step_s <= 0) return use;
  use.day_bytes = use.step_bytes * kDayS / step_s;
  use.lifetime_years =
      static_cast<double>(machine.nvme_endurance_bytes) / use.day_bytes / kDaysPerYear;
  use.used_lifetime_years = use.lifetime_years * wear_gain(machine);
  return use;
}

double wear_gain(Machine const& machine) {
  return machine.nvme_rated_amplification / machine.nvme_write_amplification *
         machine.nvme_retention_gain;
}

std::string drive_bytes(double bytes) {
  constexpr struct {
    double factor;
    char const* name;
  } units[] = {{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}};
  for (auto const& unit : units) {
    // With three digits, 999.5 MB would be rounded to 1000 MB, so the larger unit begins there.
    if (bytes >= 0.9995 * unit.factor)
      return fmt::format("{} {}", human_number(bytes / unit.factor, 3), unit.name);
  }
  return fmt::format("{:.3g} kB", bytes / 1e3);
}

std::string drive_life(double years) {
  if (years < 1) return fmt::format("{:.3g} days", years * kDaysPerYear);
  auto const number = human_number(years, 3);
  return number + (number == "1" ? " year" : " years");
}

std::string wear_words(Machine const& machine) {
  return fmt::format(
      "writes amplified {:.3g} x, rated {:.3g} x; data kept a day: {:.3g} x the writes",
      machine.nvme_write_amplification, machine.nvme_rated_amplification,
      machine.nvme_retention_gain);
}

}  // namespace spillway
