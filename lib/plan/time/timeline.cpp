#include "plan/time/timeline.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace spillway {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity(), kAll = kNever;

}  // namespace

class TimelineRun {
 public:
  TimelineRun(Timeline const& timeline, Shares const& capacity)
      : m_timeline(timeline), m_capacity(capacity), m_times(timeline.m_costs.size()) {}

  std::vector<Timeline::Times> run() {
    double now_s = 0;
    do {
      while (begin_jobs(now_s)) end_jobs(now_s);  // some take no time
      share(now_s);
      now_s = next_end();
      end_jobs(now_s);
    } while (now_s < kNever);
    return std::move(m_times);
  }

 private:
  struct Running {
    int job = -1;  // none
    double left_s = 0, rate = 1, since_s = 0, end_s = 0;
    std::size_t next = 0;  // place of the lane's next job
    int waits_met = 0;     // of the next one
  };
  ItemCost const& cost(int job) const { return m_timeline.m_costs[job]; }
  Timeline::Times& times(int job) { return m_times[job]; }

  bool is_ready(Running& lane, int job) {
    auto const& first = m_timeline.m_first_wait;
    auto const at = static_cast<std::size_t>(job);
    int const end =
        at + 1 < first.size() ? first[at + 1] : static_cast<int>(m_timeline.m_waits.size());
    for (int const count = end - first[at]; lane.waits_met < count; ++lane.waits_met) {
      auto const wait = static_cast<std::size_t>(first[at] + lane.waits_met);
      if (times(m_timeline.m_waits[wait]).end_s < 0) return false;
    }
    return true;
  }

  // Whether some job that takes no time has begun.
  bool begin_jobs(double now_s) {
    bool empty_one = false;
    for (std::size_t number = 0; number < kLanes; ++number) {
      Running& lane = m_lanes[number];
      auto const& queue = m_timeline.m_lanes[number];
      if (lane.job >= 0 || lane.next == queue.size() || !is_ready(lane, queue[lane.next])) continue;
      lane.job = queue[lane.next++];
      lane.left_s = cost(lane.job).seconds;
      lane.rate = 1;
      lane.since_s = times(lane.job).start_s = now_s;
      lane.end_s = now_s + lane.left_s;
      lane.waits_met = 0;
      empty_one = empty_one || lane.left_s == 0;
    }
    return empty_one;
  }

  // The most that one lane gets of a resource. All get as much, but for those that ask for less;
  // a lane alone gets what it asks for, since it was measured so.
  double fair_share(std::size_t resource) const {
    int lanes = 0;
    for (Running const& lane : m_lanes)
      lanes += lane.job >= 0 && cost(lane.job).demand[resource] > 0 ? 1 : 0;
    if (lanes < 2) return kAll;
    for (double even = m_capacity[resource] / lanes;;) {
      double left = m_capacity[resource];
      int greedy = 0;
      for (Running const& lane : m_lanes) {
        double const asked = lane.job >= 0 ? cost(lane.job).demand[resource] : 0;
        if (asked <= even) left -= asked;
        greedy += asked > even ? 1 : 0;
      }
      if (greedy == 0) return kAll;
      if (left / greedy <= even) return even;
      even = left / greedy;
    }
  }

  void share(double now_s) {
    Shares most{};
    for (std::size_t r = 0; r < kResources; ++r) most[r] = fair_share(r);
    for (Running& lane : m_lanes) {
      if (lane.job < 0) continue;
      double rate = 1;
      for (std::size_t r = 0; r < kResources; ++r) {
        double const asked = cost(lane.job).demand[r];
        if (asked > most[r]) rate = std::min(rate, most[r] / asked);
      }
      if (rate == lane.rate) continue;
      lane.left_s -= (now_s - lane.since_s) * lane.rate;
      lane.since_s = now_s;
      lane.rate = rate;
      lane.end_s = now_s + lane.left_s / rate;
    }
  }

  double next_end() const {
    double end_s = kNever;
    for (Running const& lane : m_lanes) {
      if (lane.job >= 0) end_s = std::min(end_s, lane.end_s);
    }
    return end_s;
  }

  void end_jobs(double now_s) {
    for (Running& lane : m_lanes) {
      if (lane.job < 0 || lane.end_s > now_s) continue;
      times(lane.job).end_s = now_s;
      lane.job = -1;
    }
  }

  Timeline const& m_timeline;
  Shares m_capacity;
  std::vector<Timeline::Times> m_times;
  PerLane<Running> m_lanes;
};

int Timeline::add(Lane lane, ItemCost const& cost, std::span<int const> waits) {
  auto const job = jobs();
  assert(std::ranges::all_of(waits, [&](int wait) { return 0 <= wait && wait < job; }));
  m_costs.push_back(cost);
  m_first_wait.push_back(static_cast<int>(m_waits.size()));
  m_waits.insert(m_waits.end(), waits.begin(), waits.end());
  m_lanes[lane].push_back(job);
  return job;
}

std::vector<Timeline::Times> Timeline::run(Shares const& capacity) const {
  return TimelineRun(*this, capacity).run();
}

}  // namespace spillway
