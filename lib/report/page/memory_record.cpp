#include "report/page/memory_record.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "plan/data/words.hpp"
#include "plan/explain/explain.hpp"
#include "plan/memory/lifetime.hpp"
#include "report/page/thinning.hpp"

namespace spillway {
namespace {

using LiveByContent = EnumArray<Content, IdVector<std::int64_t>, kContents>;

constexpr auto kContentsInOrder = [] {
  std::array<Content, kContents> all{};
  for (int i = 0; i < kContents; ++i) all[static_cast<std::size_t>(i)] = static_cast<Content>(i);
  return all;
}();

// Returns for each Content how many bytes of a tier are in use during each item.
LiveByContent live_by_content(Program const& program, Lifetimes const& alive, Tier tier) {
  LiveByContent live;
  for (auto const one : kContentsInOrder) live[one].assign(program.items.size() + 1, 0);
  for (Buffer const& buffer : program.buffers) {
    if (buffer.tier != tier) continue;
    auto& change = live[content(program, buffer)];
    for (Stay const& stay : alive[buffer.id]) {
      change[stay.first] += stay.last_byte - stay.first_byte;
      change[stay.last + 1] -= stay.last_byte - stay.first_byte;
    }
  }
  for (auto& of_content : live)
    std::partial_sum(of_content.begin(), of_content.end(), of_content.begin());
  return live;
}

struct Moment {
  double at_s = 0;
  ItemNumber item = -1;
};

// Returns when the compute lane is at each interval: when it begins its next item or, behind its
// last one, when the items that come then begin.
std::vector<Moment> moments_of(Program const& program, Simulation const& simulation) {
  auto const& intervals = simulation.intervals;
  std::vector<Moment> moments(intervals.size());
  double next_s = -1;
  for (auto i = intervals.size(); i-- > 0;) {
    bool const computes = program.items[intervals[i].item].lane == Lane::compute;
    if (computes) next_s = std::max(0.0, intervals[i].start_s);
    moments[i] = {next_s, intervals[i].item};
  }
  double latest_s = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (moments[i].at_s < 0) moments[i].at_s = intervals[i].start_s;
    latest_s = moments[i].at_s = std::max(latest_s, moments[i].at_s);
  }
  return moments;
}

std::int64_t total(LiveByContent const& live, ItemNumber item) {
  std::int64_t sum = 0;
  for (auto const& of_content : live) sum += of_content[item];
  return sum;
}

// Of moments at the same time the one with the most bytes stays.
std::vector<Moment> one_at_a_time(std::vector<Moment> const& moments, LiveByContent const& live) {
  std::vector<Moment> result;
  for (Moment const& moment : moments) {
    if (result.empty() || result.back().at_s < moment.at_s) {
      result.push_back(moment);
    } else if (total(live, moment.item) > total(live, result.back().item)) {
      result.back() = moment;
    }
  }
  return result;
}

PageJson steps(std::vector<Moment> const& all, LiveByContent const& live, std::size_t most) {
  std::vector<double> sums;
  for (Moment const& moment : all) sums.push_back(static_cast<double>(total(live, moment.item)));
  auto const shown = thinned(std::span(&sums, 1), most);
  PageJson json = {{"at_s", PageJson::array()}, {"bytes", PageJson::object()}};
  for (auto const row : shown) json["at_s"].push_back(all[row].at_s);
  for (auto const one : kContentsInOrder) {
    auto const& of_content = live[one];
    if (std::ranges::all_of(of_content, [](auto bytes) { return bytes == 0; })) continue;
    auto& bytes = json["bytes"][std::string(name(one))] = PageJson::array();
    for (auto const row : shown) bytes.push_back(of_content[all[row].item]);
  }
  return json;
}

PageJson owners(Program const& program, PeakMoment const& moment) {
  PageJson json = PageJson::array();
  for (auto const& one : moment.contributors)
    json.push_back({{"content", name(one.content)},
                    {"passing", one.passing},
                    {"bytes", one.bytes},
                    {"tensors", one.tensors},
                    {"largest", program.buffers[one.largest].name},
                    {"largest_bytes", one.largest_bytes}});
  return json;
}

double time_of(std::vector<Moment> const& moments, ItemNumber item) {
  auto const found = std::ranges::find(moments, item, &Moment::item);
  return found == moments.end() ? 0 : found->at_s;
}

}  // namespace

PageJson memory_record(Program const& program, Simulation const& simulation, Budgets const& budgets,
                       std::size_t most) {
  auto const alive = lifetimes(program);
  auto const moments = moments_of(program, simulation);
  PageJson json = PageJson::object();
  for (Tier const tier : kTiersInOrder) {
    auto const peak = peak_moment(program, tier);
    if (peak.item < 0) continue;
    auto const live = live_by_content(program, alive, tier);
    auto& of_tier = json[std::string(name(tier))];
    of_tier = {{"peak_bytes", program.peak_bytes[tier]},
               {"persistent_bytes", program.persistent_bytes[tier]},
               {"budget_bytes", budgets.*budget_of(tier)}};
    of_tier.update(steps(one_at_a_time(moments, live), live, most));
    of_tier["peak"] = {{"at_s", time_of(moments, peak.item)},
                       {"item", peak.item},
                       {"doing", what(program, program.items[peak.item])},
                       {"gap_bytes", peak.gap_bytes},
                       {"owners", owners(program, peak)}};
  }
  return json;
}

}  // namespace spillway
