// Which reloads of a simulated step read back what was hardly written to the drive or to host
// memory: whoever keeps the copy on the device until the write ends could use that copy instead.
//   build/bin/spillway plan INPUT --machine MACHINE.yaml --items --json > PROGRAM.json
//   build/bin/spillway_bench_reloads PROGRAM.json MACHINE.yaml [RANKS, 1]
// A reload begins with the first read of a spilled tensor and ends with its last byte on the
// device. It is needed when the op before its first reader has ended. It is late if its write ends
// less than the reload's own time before that, and forwardable if its write ends after that. Prints
// JSON with the numbers of both and the seconds for which compute waits for late ones.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "plan/data/machine_file.hpp"
#include "plan/listing/listing.hpp"
#include "plan/time/simulate.hpp"
#include "run/find_target.hpp"

namespace spillway {
namespace {

using Intervals = std::map<ItemNumber, Simulation::Interval>;  // of one run of a segment

struct Findings {
  std::int64_t reloads = 0, late = 0, forwardable = 0;
  double wait_s = 0;
};

// The items that move the bytes of one spilled buffer, and what they lead to.
struct Trip {
  std::vector<ItemNumber> writes, reads, arrivals;
  ItemNumber reader = -1;  // the first op that uses what was reloaded
};

class Trips {
 public:
  explicit Trips(Program const& program) : m_program(program) {
    for (Item const& item : program.items)
      for (Access const& read : item.reads)
        for (ItemNumber const writer : read.writers) m_users[writer].push_back(item.number);
    for (Item const& item : program.items) note(item);
    for (auto& [buffer, trip] : m_trips) follow(trip);
  }
  std::map<BufferId, Trip> const& all() const { return m_trips; }

 private:
  // Rings are reserved, and what outlives a segment is no activation.
  bool is_spilled(BufferId id) const {
    auto const& buffer = m_program.buffers[id];
    return buffer.tier != Tier::device && !buffer.persistent && !buffer.reserved &&
           !buffer.spanning;
  }

  void note(Item const& item) {
    if (item.kind != ItemKind::copy) return;
    for (Access const& write : item.writes)
      if (is_spilled(write.buffer)) m_trips[write.buffer].writes.push_back(item.number);
    for (Access const& read : item.reads)
      if (is_spilled(read.buffer)) m_trips[read.buffer].reads.push_back(item.number);
  }

  // Follows copies from the drive, perhaps over a ring in host memory, to the first op.
  void follow(Trip& trip) {
    trip.arrivals = trip.reads;
    for (std::size_t i = 0; i < trip.arrivals.size(); ++i)
      for (ItemNumber const user : m_users[trip.arrivals[i]]) {
        bool const moves = m_program.items[user].kind == ItemKind::copy;
        if (moves && std::ranges::find(trip.arrivals, user) == trip.arrivals.end())
          trip.arrivals.push_back(user);
        bool const computes = m_program.items[user].lane == Lane::compute;
        if (computes && (trip.reader < 0 || user < trip.reader)) trip.reader = user;
      }
  }

  Program const& m_program;
  std::map<ItemNumber, std::vector<ItemNumber>> m_users;
  std::map<BufferId, Trip> m_trips;
};

double last_end(std::vector<ItemNumber> const& items, Intervals const& run) {
  double end = 0;
  for (ItemNumber const item : items) end = std::max(end, run.at(item).end_s);
  return end;
}

// Returns when the compute lane has done what comes before `reader`.
double need_s(Program const& program, ItemNumber reader, Intervals const& run) {
  double need = 0;
  for (auto const& [item, interval] : run)
    if (item < reader && program.items[item].lane == Lane::compute) need = interval.end_s;
  return need;
}

bool has_all(Trip const& trip, Intervals const& run) {
  auto const has = [&](ItemNumber item) { return run.contains(item); };
  return has(trip.reader) && !trip.writes.empty() && std::ranges::all_of(trip.writes, has) &&
         std::ranges::all_of(trip.arrivals, has);
}

// Judges all reloads of a run. An op waits for the last of its reloads.
void judge(Program const& program, Trips const& trips, Intervals const& run, Findings& found) {
  std::map<ItemNumber, double> waits_s;
  for (auto const& [buffer, trip] : trips.all()) {
    if (!has_all(trip, run)) continue;
    double const need = need_s(program, trip.reader, run), end = last_end(trip.arrivals, run);
    double const written = last_end(trip.writes, run), begin = run.at(trip.reads.front()).start_s;
    bool const late = written > need - (end - begin);
    ++found.reloads;
    found.late += late;
    found.forwardable += written > need;
    if (late) waits_s[trip.reader] = std::max(waits_s[trip.reader], end - need);
  }
  for (auto const& [reader, wait_s] : waits_s) found.wait_s += wait_s;
}

Findings findings(Program const& program, Simulation const& simulation) {
  Trips const trips(program);
  std::set<ItemNumber> lasts;
  for (Segment const& segment : program.segments) lasts.insert(segment.last - 1);
  Findings found;
  Intervals run;
  for (auto const& interval : simulation.intervals) {
    run[interval.item] = interval;
    if (!lasts.contains(interval.item)) continue;
    judge(program, trips, run, found);
    run.clear();
  }
  return found;
}

void print(std::string const& program_file, std::string const& machine_file, std::int64_t ranks) {
  auto const program =
      program_from_json(read_input(program_file, std::int64_t{1} << 32), program_file);
  auto const machine = machine_of_a_rank(load_machine(machine_file), ranks, std::nullopt);
  auto const simulation = simulate(program, machine, std::numeric_limits<std::int64_t>::max());
  auto const found = findings(program, simulation);
  fmt::print(
      "{{\"step_s\": {}, \"reloads\": {}, \"late\": {}, \"forwardable\": {}, \"wait_s\": {}}}\n",
      simulation.step_s, found.reloads, found.late, found.forwardable, found.wait_s);
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "spillway_bench_reloads PROGRAM.json MACHINE.yaml [RANKS, 1]\n");
    return 2;
  }
  spillway::print(argv[1], argv[2], argc > 3 ? std::atoll(argv[3]) : 1);
} catch (spillway::Error const& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
