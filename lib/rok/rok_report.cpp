#include "rok/rok_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/units.hpp"

namespace spillway {
namespace {

// Charts have this title in their SVG, by which this program recognises those that it made.
constexpr std::string_view kChartName = "spillway_rok";

constexpr auto kChart = R"(set terminal svg name '{}' noenhanced size 800,560 background 'white'
set title 'recompute, offload, keep: {} tokens a sequence; points: sequences a step'
set xlabel 'device memory beyond persistent state (activations, gradients), GiB'
set ylabel 'tokens/s'
set xrange [0:*]
set yrange [{:.6g}:{:.6g}]
set grid
set key outside right top vertical
)";

constexpr std::string_view kColumns =
    "policy,micro,sequences,sequence_tokens,planned_peak_device_bytes,planned_peak_host_bytes,"
    "planned_peak_nvme_bytes,peak_device_bytes,peak_host_bytes,peak_nvme_bytes,"
    "activation_peak_bytes,predicted_step_s,step_s,least_step_s,most_step_s,tokens_per_s,spilled_"
    "bytes,fits\n";

// This gnuplot text draws a curve of the chart with a label at each of its points.
constexpr auto kCurve =
    "{0} $curve{1} using 1:2 with linespoints lt {1} title '{2}', "
    "$curve{1} using 1:2:3 with labels offset 0,0.8 tc lt {1} notitle";

double gibibytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(1 << 30);
}

std::string rate(double tokens_per_s) {
  return fmt::format(fmt::runtime(tokens_per_s < 100 ? "{:.3g}" : "{:.0f}"), tokens_per_s);
}

// Returns three columns of CSV: bytes of the device, of the host and of NVMe.
std::string tiers(TierBytes const& bytes) {
  return fmt::format("{},{},{}", bytes[index(Tier::device)], bytes[index(Tier::host)],
                     bytes[index(Tier::nvme)]);
}

}  // namespace

std::string rok_line(RokRow const& row) {
  auto const what = fmt::format("{}, {} x {} tokens: ", name(row.policy), row.micro, row.sequence);
  if (!row.fits()) return what + "does not fit: " + row.why;
  return what + fmt::format(
                    "{} on the device, {} of it activations and gradients; {} a step, "
                    "{} tokens/s",
                    human_bytes(row.peak_bytes[index(Tier::device)]),
                    human_bytes(row.activation_bytes), human_duration(row.step_s),
                    rate(row.tokens_per_s()));
}

std::string rok_table(std::span<RokRow const> rows) {
  auto text = fmt::format("{:<11} {:>5} {:>11} {:>11} {:>11} {:>10} {:>10} {:>9} {:>11}  {}\n",
                          "policy", "micro", "planned", "peak", "activations", "predicted", "step",
                          "tokens/s", "spilled", "fits");
  for (auto const& row : rows) {
    auto const planned = human_bytes(row.planned_bytes[index(Tier::device)]);
    text += fmt::format("{:<11} {:>5} {:>11} ", name(row.policy), row.micro, planned);
    if (!row.fits()) {
      text += fmt::format("{:>68}\n", "no");
      continue;
    }
    text += fmt::format("{:>11} {:>11} {:>10} {:>10} {:>9} {:>11}  yes\n",
                        human_bytes(row.peak_bytes[index(Tier::device)]),
                        human_bytes(row.activation_bytes), human_duration(row.predicted_step_s),
                        human_duration(row.step_s), rate(row.tokens_per_s()),
                        human_bytes(row.spilled_bytes));
  }
  return text;
}

std::string rok_csv(std::span<RokRow const> rows) {
  auto text = std::string(kColumns);
  for (auto const& row : rows) {
    text += fmt::format("{},{},{},{},{},", name(row.policy), row.micro, row.micro, row.sequence,
                        tiers(row.planned_bytes));
    if (row.fits()) {
      text +=
          fmt::format("{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},yes\n", tiers(row.peak_bytes),
                      row.activation_bytes, row.predicted_step_s, row.step_s, row.least_step_s,
                      row.most_step_s, row.tokens_per_s(), row.spilled_bytes);
    } else {
      text += ",,,,,,,,,,no\n";
    }
  }
  return text;
}

bool is_rok_csv(std::string_view beginning) {
  return beginning.starts_with("policy,micro,sequences,");
}

bool is_rok_chart(std::string_view beginning) {
  return beginning.starts_with("<?xml") &&
         beginning.find(fmt::format("<title>{}</title>", kChartName)) != beginning.npos;
}

std::string no_point_fits(std::span<RokRow const> rows, AskedPlan const& asked) {
  auto const& least = *std::ranges::min_element(
      rows, {}, [](RokRow const& row) { return row.planned_bytes[index(Tier::device)]; });
  auto const leaves_one = std::ranges::count(asked.optimizer, std::optional<Tier>{}) > 0;
  return fmt::format(
      "no point fits the budgets: {}, {} x {} tokens, {}{}", name(least.policy), least.micro,
      least.sequence, least.why,
      leaves_one ? "; what is `auto` stays on the device: plan.optimizer=nvme or host needs less"
                 : "");
}

std::string rok_script(std::span<RokRow const> rows) {
  std::string data, curves;
  double slowest = std::numeric_limits<double>::infinity(), fastest = 0;
  int curve = 0;         // the number of the current curve, from 1
  BlockPolicy policy{};  // the policy of the current curve
  for (auto const& row : rows) {
    if (!row.fits()) continue;
    auto const tokens_per_s = row.tokens_per_s();
    slowest = std::min(slowest, tokens_per_s);
    fastest = std::max(fastest, tokens_per_s);
    if (curve == 0 || policy != row.policy) {
      bool const first = curve++ == 0;
      policy = row.policy;
      data += fmt::format("{}$curve{} << end\n", first ? "" : "end\n", curve);
      curves += fmt::format(kCurve, first ? "plot" : ",", curve, name(policy));
    }
    data +=
        fmt::format("{:.6g} {:.6g} {}\n", gibibytes(row.activation_bytes), tokens_per_s, row.micro);
  }
  if (curve == 0) return "";
  auto const head =
      fmt::format(kChart, kChartName, rows.front().sequence, 0.95 * slowest, 1.05 * fastest);
  return head + data + "end\n" + curves + "\n";
}

}  // namespace spillway
