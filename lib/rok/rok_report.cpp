#include "rok/rok_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "base/units.hpp"

namespace spillway {
namespace {

// The last columns of a row of the table.
constexpr char kMeasured[] = "{:>9}{:>9}{:>10}{:>8}{:>7}{:>9}\n";

// Charts have this title in their SVG, by which this program recognises those that it made.
constexpr std::string_view kChartName = "spillway_rok";

constexpr auto kChart = R"(set terminal svg name '{}' noenhanced size 800,560 background 'white'
set title "{}\n{}; {}\nnumbers: sequences of {} tokens a step; bars: all of {} steps"
set xlabel 'peak of device memory, {}'
set ylabel 'time of a sequence, {}'
set xrange {}
set yrange {}
set grid
set key outside right top vertical
)";

constexpr std::string_view kColumns =
    "policy,micro,sequences,sequence_tokens,planned_peak_device_bytes,planned_peak_host_bytes,"
    "planned_peak_nvme_bytes,peak_device_bytes,peak_host_bytes,peak_nvme_bytes,"
    "activation_peak_bytes,predicted_step_s,step_s,least_step_s,most_step_s,tokens_per_s,spilled_"
    "bytes,fits\n";

// A Unit of an axis is one in which its largest number has digits before the point.
struct Unit {
  std::string_view name;
  double size;
};
Unit unit_of_bytes(double most) {
  constexpr double mebibyte = 1 << 20, gibibyte = 1 << 30;
  return most >= gibibyte ? Unit{"GiB", gibibyte} : Unit{"MiB", mebibyte};
}
Unit unit_of_seconds(double most) {
  return most >= 1 ? Unit{"s", 1} : Unit{"ms", 1e-3};
}

// Between these numbers lie all points of a chart on one axis.
struct Extent {
  double least = std::numeric_limits<double>::infinity(), most = 0;

  void add(double number) {
    least = std::min(least, number);
    most = std::max(most, number);
  }
  // An axis begins at zero unless that leaves half of it empty.
  std::string_view range() const { return 2 * least > most ? "[*:*]" : "[0:*]"; }
};

// Returns the text for a title in double quotes, in which gnuplot would obey these two characters
// and `{`, were it not for `noenhanced`.
std::string in_double_quotes(std::string_view text) {
  std::string result;
  for (char const c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

double sequence_s(RokRow const& row, double step_s) {
  return step_s / static_cast<double>(row.micro);
}

// A Chart collects the data and the drawing of one curve after the other.
class Chart {
 public:
  Chart(Unit bytes, Unit seconds) : m_bytes(bytes), m_seconds(seconds) {}

  void begin_curve(std::string_view name, bool is_hero) {
    m_data += fmt::format("{}$curve{} << end\n", m_curves == 0 ? "" : "end\n", m_curves + 1);
    constexpr int hero = 7;  // the mark that no other curve has
    auto const number = m_curves + 1, color = is_hero ? -1 : number;
    auto const mark = is_hero ? hero : number + (number >= hero ? 1 : 0);
    m_drawing += m_curves == 0 ? "plot" : ",";
    if (is_hero)
      m_drawing += fmt::format(" $curve{} using 1:2 with lines lt -1 lw 3 notitle,", number);
    m_drawing += fmt::format(
        " $curve{0} using 1:2:3:4 with yerrorbars lt {1} pt {2} title '{3}', "
        "$curve{0} using 1:2:5 with labels offset 0.8,0.6 tc lt {1} notitle",
        number, color, mark, name);
    ++m_curves;
  }
  // Parts the points before from those behind, which no line then joins.
  void part() { m_data += "\n"; }
  void add(RokRow const& row) {
    auto const y = [&](double step_s) { return sequence_s(row, step_s) / m_seconds.size; };
    m_data += fmt::format("{:.6g} {:.6g} {:.6g} {:.6g} {}\n",
                          static_cast<double>(row.peak_bytes[Tier::device]) / m_bytes.size,
                          y(row.step_s), y(row.least_step_s), y(row.most_step_s), row.micro);
  }
  std::string text() const { return m_data + "end\n" + m_drawing + "\n"; }

 private:
  Unit m_bytes, m_seconds;
  int m_curves = 0;
  std::string m_data, m_drawing;
};

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
  auto const what = fmt::format("{}, {} x {} tokens: ", row.words(), row.micro, row.sequence);
  if (!row.fits()) return what + "does not fit: " + row.why;
  return what + fmt::format(
                    "{} on the device, {} of it activations and gradients; {} a step, "
                    "{} tokens/s",
                    human_bytes(row.peak_bytes[index(Tier::device)]),
                    human_bytes(row.activation_bytes), human_duration(row.step_s),
                    rate(row.tokens_per_s()));
}

std::string rok_table(std::span<RokRow const> rows) {
  auto text = fmt::format("{:<14}{:>5}{:>9}", "policy", "micro", "planned") +
              fmt::format(kMeasured, "peak", "activ.", "predicted", "step", "tok/s", "spilled");
  for (auto const& row : rows) {
    auto const planned = human_bytes(row.planned_bytes[index(Tier::device)]);
    text += fmt::format("{:<14}{:>5}{:>9}", row.words(), row.micro, planned);
    if (!row.fits()) {
      text += "  does not fit\n";
      continue;
    }
    text += fmt::format(kMeasured, human_bytes(row.peak_bytes[index(Tier::device)]),
                        human_bytes(row.activation_bytes), human_duration(row.predicted_step_s),
                        human_duration(row.step_s), rate(row.tokens_per_s()),
                        human_bytes(row.spilled_bytes));
  }
  return text;
}

std::string rok_csv(std::span<RokRow const> rows) {
  auto text = std::string(kColumns);
  for (auto const& row : rows) {
    text += fmt::format("{},{},{},{},{},", row.name(), row.micro, row.micro, row.sequence,
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
      "no point fits the budgets: {}, {} x {} tokens, {}{}", least.name(), least.micro,
      least.sequence, least.why,
      leaves_one ? "; what is `auto` stays on the device: plan.optimizer=nvme or host needs less"
                 : "");
}

std::string rok_script(std::span<RokRow const> rows, RokCaption const& caption) {
  std::vector<RokRow> fitting;
  std::ranges::copy_if(rows, std::back_inserter(fitting), &RokRow::fits);
  if (fitting.empty()) return "";
  Extent of_bytes, of_seconds;
  for (auto const& row : fitting) {
    of_bytes.add(static_cast<double>(row.peak_bytes[Tier::device]));
    of_seconds.add(sequence_s(row, row.least_step_s));
    of_seconds.add(sequence_s(row, row.most_step_s));
  }
  auto const bytes = unit_of_bytes(of_bytes.most), seconds = unit_of_seconds(of_seconds.most);
  Chart chart(bytes, seconds);
  for (RokRow const* before = nullptr; auto const& row : fitting) {
    if (before == nullptr || before->policy != row.policy)
      chart.begin_curve(row.policy ? row.name() : "planned by spillway", !row.policy);
    else if (!row.policy && before->micro != row.micro)
      chart.part();
    chart.add(row);
    before = &row;
  }
  return fmt::format(kChart, kChartName, in_double_quotes(caption.model),
                     in_double_quotes(caption.machine), in_double_quotes(caption.date),
                     rows.front().sequence, caption.steps, bytes.name, seconds.name,
                     of_bytes.range(), of_seconds.range()) +
         chart.text();
}

}  // namespace spillway
