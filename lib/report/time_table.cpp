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

constexpr double kSmallest_s = 0.001;

using Part = std::function<double(TrainingTimes const&)>;

TimeRow row_of(std::string name, std::span<TrainingTimes const> ranks, Part const& part) {
  TimeRow row{std::move(name)};
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

std::string text_of(double seconds) {
  return std::abs(seconds) < kSmallest_s ? "0" : human_number(seconds, 3);
}

std::string line_of(TimeRow const& row, TimeTable const& table) {
  auto line = fmt::format("  {:<22}", row.part);
  if (table.ranks > 1) line += fmt::format(" {:>9}", text_of(row.min_s));
  line += fmt::format(" {:>9}", text_of(row.avg_s));
  if (table.ranks > 1) line += fmt::format(" {:>9}", text_of(row.max_s));
  return line + fmt::format(" {:>6} {:>10}\n", percent(row.avg_s, table.whole.avg_s),
                            row.predicted_s ? text_of(*row.predicted_s) : "-");
}

}  // namespace

TrainingTimes& TrainingTimes::operator+=(TrainingTimes const& more) {
  std::ranges::transform(work_s, more.work_s, work_s.begin(), std::plus<>());
  std::ranges::transform(waits_s, more.waits_s, waits_s.begin(), std::plus<>());
  evaluation_s += more.evaluation_s;
  saving_s += more.saving_s;
  whole_s += more.whole_s;
  return *this;
}

double TrainingTimes::other_s() const {
  auto parts_s = std::accumulate(work_s.begin(), work_s.end(), evaluation_s + saving_s);
  for (Lane const lane : kAwaited) parts_s += waits_s[index(lane)];
  return whole_s - parts_s;
}

TimeTable time_table(std::span<TrainingTimes const> ranks, TrainingTimes const& predicted) {
  TimeTable table;
  table.ranks = ranks.size();
  auto const add = [&](std::string name, Part const& part, bool is_predicted = true) {
    auto row = row_of(std::move(name), ranks, part);
    if (row.min_s == 0 && row.max_s == 0) return;
    if (is_predicted) row.predicted_s = known(part(predicted));
    table.parts.push_back(std::move(row));
  };
  for (std::size_t i = 0; i < kWorkParts; ++i)
    add(std::string(name(static_cast<WorkPart>(i))),
        [i](TrainingTimes const& times) { return times.work_s[i]; });
  for (Lane const lane : kAwaited)
    add(fmt::format("waiting for {}", name(lane)),
        [lane](TrainingTimes const& times) { return times.waits_s[index(lane)]; });
  add("evaluation", [](TrainingTimes const& times) { return times.evaluation_s; });
  add("saving", [](TrainingTimes const& times) { return times.saving_s; });
  add(
      "other", [](TrainingTimes const& times) { return times.other_s(); }, false);
  auto const whole = [](TrainingTimes const& times) { return times.whole_s; };
  table.whole = row_of("training", ranks, whole);
  table.whole.predicted_s = known(predicted.whole_s);
  return table;
}

std::string to_text(TimeTable const& table) {
  bool const several = table.ranks > 1;
  auto text = fmt::format("where the time of training went, in seconds{}\n",
                          several ? fmt::format(" over {} ranks", table.ranks) : "");
  text += fmt::format("  {:<22}", "");
  if (several) text += fmt::format(" {:>9} {:>9} {:>9}", "min", "avg", "max");
  if (!several) text += fmt::format(" {:>9}", "");
  text += fmt::format(" {:>6} {:>10}\n", "", "predicted");
  for (auto const& row : table.parts)
    if (text_of(row.max_s) != "0") text += line_of(row, table);
  return text + line_of(table.whole, table);
}

}  // namespace spillway
