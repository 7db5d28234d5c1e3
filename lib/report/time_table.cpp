#include "report/time_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/units.hpp"
#include "plan/data/words.hpp"

namespace spillway {
namespace {

constexpr std::array kAwaited = {Lane::nvme_read, Lane::nvme_write, Lane::h2d, Lane::d2h,
                                 Lane::comm,      Lane::host,       Lane::data};

using Part = std::function<double(TrainingTimes const&)>;

// Where there is one rank, what ends a step waits for nobody else.
std::string wait_words(Lane lane, std::size_t ranks) {
  bool const is_commit = lane == Lane::comm && ranks == 1;
  return fmt::format("waiting for {}", is_commit ? "the commit" : awaited(lane));
}

TimeRow filled(TimeRow row, std::span<TrainingTimes const> ranks, Part const& part) {
  row.min_s = row.max_s = part(ranks.front());
  for (auto const& rank : ranks) {
    auto const seconds = part(rank);
    row.min_s = std::min(row.min_s, seconds);
    row.max_s = std::max(row.max_s, seconds);
    row.avg_s += seconds / static_cast<double>(ranks.size());
  }
  return row;
}

std::optional<double> known(double seconds) {
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

// Seconds are rounded to as many decimals as give the whole four digits.
class Seconds {
 public:
  explicit Seconds(double whole_s) {
    constexpr int most = 6, digits = 4;
    if (whole_s > 0)
      m_decimals =
          std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(whole_s))), 0, most);
  }
  double rounded(double seconds) const {
    auto const unit = std::pow(10, m_decimals);
    return std::round(seconds * unit) / unit + 0.0;  // -0 becomes 0
  }
  std::string text(double seconds) const {
    return fmt::format("{:.{}f}", rounded(seconds), m_decimals);
  }

 private:
  int m_decimals = 3;
};

std::string line_of(TimeRow const& row, TimeTable const& table, Seconds const& seconds) {
  auto line = fmt::format("  {:<32}", row.words.empty() ? row.part : row.words);
  if (table.ranks > 1) line += fmt::format(" {:>7}", seconds.text(row.min_s));
  line += fmt::format(" {:>7}", seconds.text(row.avg_s));
  if (table.ranks > 1) line += fmt::format(" {:>7}", seconds.text(row.max_s));
  return line + fmt::format(" {:>6} {:>9}\n", percent(row.avg_s, table.whole.avg_s),
                            row.predicted_s ? seconds.text(*row.predicted_s) : "-");
}

}  // namespace

TrainingTimes& TrainingTimes::operator+=(TrainingTimes const& more) {
  std::ranges::transform(work_s, more.work_s, work_s.begin(), std::plus<>());
  std::ranges::transform(waits_s, more.waits_s, waits_s.begin(), std::plus<>());
  evaluation_s += more.evaluation_s;
  saving_s += more.saving_s;
  failed_s += more.failed_s;
  replanning_s += more.replanning_s;
  whole_s += more.whole_s;
  return *this;
}

double TrainingTimes::other_s() const {
  auto const between_steps_s = evaluation_s + saving_s + failed_s + replanning_s;
  auto parts_s = std::accumulate(work_s.begin(), work_s.end(), between_steps_s);
  for (Lane const lane : kAwaited) parts_s += waits_s[index(lane)];
  return whole_s - parts_s;
}

TimeTable time_table(std::span<TrainingTimes const> ranks, TrainingTimes const& predicted) {
  TimeTable table;
  table.ranks = ranks.size();
  auto const add = [&](TimeRow named, Part const& part, bool is_predicted = true) {
    auto row = filled(std::move(named), ranks, part);
    if (row.min_s == 0 && row.max_s == 0) return;
    if (is_predicted) row.predicted_s = known(part(predicted));
    table.parts.push_back(std::move(row));
  };
  for (std::size_t i = 0; i < kWorkParts; ++i)
    add({std::string(name(static_cast<WorkPart>(i)))},
        [i](TrainingTimes const& times) { return times.work_s[i]; });
  for (Lane const lane : kAwaited)
    add({.part = fmt::format("waiting for {}", name(lane)),
         .words = wait_words(lane, ranks.size())},
        [lane](TrainingTimes const& times) { return times.waits_s[index(lane)]; });
  add({"evaluation"}, [](TrainingTimes const& times) { return times.evaluation_s; });
  add({"saving"}, [](TrainingTimes const& times) { return times.saving_s; });
  auto const add_unforeseen = [&](char const* name, Part const& part) { add({name}, part, false); };
  add_unforeseen("failed steps", [](TrainingTimes const& times) { return times.failed_s; });
  add_unforeseen("re-planning", [](TrainingTimes const& times) { return times.replanning_s; });
  add_unforeseen("other", [](TrainingTimes const& times) { return times.other_s(); });
  auto const whole = [](TrainingTimes const& times) { return times.whole_s; };
  table.whole = filled({"training"}, ranks, whole);
  table.whole.predicted_s = known(predicted.whole_s);
  return table;
}

std::string to_text(TimeTable const& table) {
  bool const several = table.ranks > 1;
  auto text = fmt::format("where the time of training went, in seconds{}\n",
                          several ? fmt::format(" over {} ranks", table.ranks) : "");
  text += fmt::format("  {:<32}", "");
  if (several) text += fmt::format(" {:>7} {:>7} {:>7}", "min", "avg", "max");
  if (!several) text += fmt::format(" {:>7}", "took");
  text += fmt::format(" {:>6} {:>9}\n", "share", "predicted");
  Seconds const seconds(table.whole.max_s);
  for (auto const& row : table.parts)
    if (seconds.rounded(row.min_s) != 0 || seconds.rounded(row.max_s) != 0)
      text += line_of(row, table, seconds);
  return text + line_of(table.whole, table, seconds);
}

}  // namespace spillway
