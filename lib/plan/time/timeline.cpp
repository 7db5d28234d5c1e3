#include "plan/time/timeline.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace spillway {

constexpr double kNever = std::numeric_limits<double>::infinity(), kNoLimit = kNever;

class Timeline::Execution {
 public:
  Execution(Timeline const& timeline, Shares const& capacity)
      : m_timeline(timeline), m_capacity(capacity), m_times(timeline.jobs()) {
    m_end_s.fill(kNever);
  }

  IdVector<Times> run() {
    for (double now_s = 0; now_s < kNever; now_s = next_end()) {
      end_jobs(now_s);
      while (begin_jobs(now_s)) end_jobs(now_s);
      share(now_s);
    }
    return std::move(m_times);
  }

 private:
  // Running says what a lane does at the moment.
  struct Running {
    int job = -1;          // the number of the running job, or -1 if there is none
    int waits_met = 0;     // how many of the next job's waits are over
    std::size_t next = 0;  // the index of the next job in the lane's queue
    double left_s = 0, rate = 1, since_s = 0;
    Shares demand{};
  };

  bool is_ready(Running& lane, Job const& job) {
    for (int const count = job.last_wait - job.first_wait; lane.waits_met < count;
         ++lane.waits_met) {
      int const awaited = m_timeline.m_waits[job.first_wait + lane.waits_met];
      if (m_times[awaited].end_s < 0) return false;
    }
    return true;
  }

  // Begins all jobs that can begin. Returns whether one takes no time, since more may begin then.
  bool begin_jobs(double now_s) {
    bool empty_one = false;
    for (Lane const name : kLanesInOrder) {
      Running& lane = m_lanes[name];
      auto const& queue = m_timeline.m_lanes[name];
      if (lane.job >= 0 || lane.next == queue.size()) continue;
      int const number = queue[lane.next];
      Job const& job = m_timeline.m_jobs[number];
      if (!is_ready(lane, job)) continue;
      begin(lane, number, job.cost, now_s);
      m_end_s[name] = now_s + job.cost.seconds;
      empty_one = empty_one || job.cost.seconds == 0;
    }
    return empty_one;
  }

  void begin(Running& lane, int number, ItemCost const& cost, double now_s) {
    lane.job = number;
    lane.waits_met = 0;
    ++lane.next;
    lane.left_s = cost.seconds;
    lane.rate = 1;
    lane.since_s = now_s;
    lane.demand = cost.demand;
    m_times[number].start_s = now_s;
    ++m_running;
  }

  // Returns the most that a lane gets of a resource that `lanes` lanes ask for. Lanes that ask for
  // little get what they ask for, and the others share the rest equally.
  double fair_share(Resource resource, int lanes) const {
    for (double even = m_capacity[resource] / lanes;;) {
      double left = m_capacity[resource];
      int greedy = 0;
      for (Running const& lane : m_lanes) {
        double const asked = lane.job < 0 ? 0 : lane.demand[resource];
        if (asked <= even) left -= asked;
        greedy += asked > even ? 1 : 0;
      }
      if (greedy == 0) return kNoLimit;
      if (left / greedy <= even) return even;
      even = left / greedy;
    }
  }

  // Finds the most that one lane gets of each resource, and returns whether that limits any lane. A
  // lane that uses a resource alone has no limit, because its job was measured alone.
  bool find_limits(Shares& most) const {
    Shares asked{};
    EnumArray<Resource, int, kResources> lanes{};
    for (Running const& lane : m_lanes) {
      if (lane.job < 0) continue;
      for (std::size_t r = 0; r < kResources; ++r) {
        asked[r] += lane.demand[r];
        lanes[r] += lane.demand[r] > 0 ? 1 : 0;
      }
    }
    bool any = false;
    for (Resource const r : kResourcesInOrder) {
      bool const suffices = lanes[r] < 2 || asked[r] <= m_capacity[r];
      most[r] = suffices ? kNoLimit : fair_share(r, lanes[r]);
      any |= !suffices;
    }
    return any;
  }

  void share(double now_s) {
    Shares most;
    bool const limited = m_running > 1 && find_limits(most);
    if (!limited && !m_limited) return;  // every lane has its whole rate, as before
    m_limited = limited;
    for (Lane const name : kLanesInOrder) {
      Running& lane = m_lanes[name];
      if (lane.job < 0) continue;
      double rate = 1;
      for (std::size_t r = 0; r < kResources && limited; ++r)
        if (lane.demand[r] > most[r]) rate = std::min(rate, most[r] / lane.demand[r]);
      if (rate == lane.rate) continue;
      lane.left_s -= (now_s - lane.since_s) * lane.rate;
      lane.since_s = now_s;
      lane.rate = rate;
      m_end_s[name] = now_s + lane.left_s / rate;
    }
  }

  double next_end() const { return std::ranges::min(m_end_s); }

  void end_jobs(double now_s) {
    for (Lane const name : kLanesInOrder) {
      if (m_end_s[name] > now_s) continue;
      m_times[m_lanes[name].job].end_s = now_s;
      m_lanes[name].job = -1;
      m_end_s[name] = kNever;
      --m_running;
    }
  }

  Timeline const& m_timeline;
  Shares m_capacity;
  IdVector<Times> m_times;
  PerLane<Running> m_lanes;
  PerLane<double> m_end_s;  // when each lane's job ends, or kNever if it has none
  int m_running = 0;        // how many lanes run a job
  bool m_limited = false;   // whether any of them gets less than it asks for
};

int Timeline::add(Lane lane, ItemCost const& cost, std::span<int const> waits) {
  auto const job = jobs();
  // The proof of a Program (plan/proof) says so, too; here it would cost the search its time.
  assert(std::ranges::all_of(waits, [&](int wait) { return 0 <= wait && wait < job; }));
  auto const first = static_cast<int>(m_waits.size());
  m_waits.insert(m_waits.end(), waits.begin(), waits.end());
  m_jobs.push_back({cost, first, static_cast<int>(m_waits.size())});
  m_lanes[lane].push_back(job);
  return job;
}

IdVector<Timeline::Times> Timeline::run(Shares const& capacity) const {
  return Execution(*this, capacity).run();
}

}  // namespace spillway
