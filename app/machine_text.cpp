#include "app/machine_text.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "plan/data/words.hpp"
#include "plan/time/drive_use.hpp"

namespace spillway {
namespace {

std::string row(std::string_view name, std::string const& text) {
  return text.empty() ? "" : wrapped_row(fmt::format("  {}", name), text, 15);
}

// Joins the rates that are known, each as its format says.
std::string rates_text(std::initializer_list<std::pair<double, char const*>> rates) {
  std::vector<std::string> known;
  for (auto const& [rate, words] : rates)
    if (rate > 0) known.push_back(fmt::format(fmt::runtime(words), human_number(rate, 3)));
  return fmt::format("{}", fmt::join(known, ", "));
}

std::string sizes_text(Machine const& machine) {
  std::vector<std::string> sizes;
  if (!machine.is_unified())
    sizes.push_back(human_bytes(machine.device_bytes) + " on each rank's device");
  if (machine.host_bytes > 0) sizes.push_back(human_bytes(machine.host_bytes) + " of main memory");
  if (machine.nvme_bytes > 0) sizes.push_back(human_bytes(machine.nvme_bytes) + " for spill files");
  return fmt::format("{}", fmt::join(sizes, ", "));
}

std::string drives_text(Machine const& machine) {
  auto const rates = rates_text({{machine.nvme_write_gbps, "writes at {} GB/s"},
                                 {machine.nvme_read_gbps, "reads at {} GB/s"},
                                 {machine.nvme_both_gbps, "both at once at {} GB/s"}});
  if (rates.empty()) return "";
  return fmt::format("{}; {} rated for {}", rates, count(machine.nvme_drives, "drive"),
                     drive_bytes(static_cast<double>(machine.nvme_endurance_bytes)));
}

std::string ops_text(Machine const& machine) {
  std::vector<std::string> known;
  if (auto const kinds = std::ssize(machine.kind_giga_per_s); kinds > 0)
    known.push_back("rates of " + count(kinds, "kind"));
  if (auto const ops = std::ssize(machine.op_s); ops > 0)
    known.push_back("times of " + count(ops, "single op"));
  return fmt::format("{}", fmt::join(known, ", "));
}

// What runs keep for the next one has some of the rates, and no sizes. A command stays on its line.
std::string use_text(Profile const& profile, std::string const& path) {
  bool const is_kept = !profile.about.empty() && profile.machine.host_bytes == 0;
  return is_kept ? row("used by", "the next run here, which measures only what is not in it")
                 : fmt::format("  used by      spillway plan INPUT --machine {}\n", path);
}

}  // namespace

std::string product_rates(Machine const& machine) {
  return rates_text({{machine.matmul_gflops_bf16, "{} GFLOP/s in bf16"},
                     {machine.matmul_gflops_f32, "{} GFLOP/s in fp32"}});
}

std::string machine_text(Profile const& profile, std::string const& path,
                         std::string const& title) {
  auto const& machine = profile.machine;
  auto const computes = machine.is_unified() ? std::string("on the cores, in main memory")
                                             : "on a device of target " + machine.target;
  auto text = fmt::format("machine file {}\n", path) + row("is", title) +
              row("computes", computes + ", " + count(machine.node_ranks, "rank") + " a node") +
              row("has", sizes_text(machine)) + row("products", product_rates(machine)) +
              row("memory", rates_text({{machine.memory_gbps, "{} GB/s"}})) +
              row("links", rates_text({{machine.h2d_gbps, "{} GB/s to the device"},
                                       {machine.d2h_gbps, "{} GB/s back"},
                                       {machine.node_gbps, "{} GB/s within a node"},
                                       {machine.network_gbps, "{} GB/s between nodes"}})) +
              row("NVMe", drives_text(machine)) + row("ops", ops_text(machine)) +
              row("costs", rates_text({{machine.power_w, "{} W a rank"},
                                       {machine.price_per_hour, "{} an hour a rank"}})) +
              use_text(profile, path);
  if (!profile.about.empty()) text += "measured by, and on\n";
  for (auto const& [name, value] : profile.about) text += row(name, value);
  return text;
}

}  // namespace spillway
