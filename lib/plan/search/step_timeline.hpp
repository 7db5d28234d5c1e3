// A step's events as jobs on lanes: what each waits for, and how long it takes. A Sink for
// tell_step.hpp, of a BlockShape.
#pragma once

#include <array>
#include <deque>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <vector>

#include "plan/data/machine.hpp"
#include "plan/schedule/reach.hpp"
#include "plan/search/block_shape.hpp"
#include "plan/search/estimate_bytes.hpp"
#include "plan/time/timeline.hpp"

namespace spillway {

// Jobs to wait for; -1 is none.
class Waits {
 public:
  Waits(std::initializer_list<int> jobs) {
    for (int const job : jobs) push_back(job);
  }
  void push_back(int job) {
    if (job < 0) return;
    if (m_count == m_jobs.size()) throw std::logic_error("a station waits for too many jobs");
    m_jobs[m_count++] = job;
  }
  operator std::span<int const>() const { return {m_jobs.data(), m_count}; }

 private:
  std::array<int, 32> m_jobs;
  std::size_t m_count = 0;
};

class StepTimeline : public StepSink {
 public:
  // All outlive it.
  StepTimeline(BlockModel const& model, Machine const& machine, Plan const& plan,
               BlockShape const& shape, StationBytes const& bytes);

  Timeline const& timeline() const { return m_timeline; }

  // The events.
  void begin_micro_batch(MicroBatch const& now);
  void fetch(int chunk, Station const& at);
  void forward(Station const& at, int piece);
  void leave(Station const& at, AwayPart const& part);
  void reload(Station const& at, AwayPart const& part);
  void backward(Station const& at, int piece);
  void collect(GradientId gradient, Station const& at);
  void accumulate(GradientId gradient, MicroBatch const&);
  void add_part(GradientId gradient, MicroBatch const&);
  void reduce(GradientId gradient, MicroBatch const&);
  void gather(GradientId gradient, MicroBatch const&);
  void norm(int chunk);
  void commit(bool knows_norms);
  void report();
  void bring(int piece, bool late);
  void update(int piece);
  void updated(int chunk);
  void end_group(int) { m_released.push_back({-1, -1, -1}); }
  void end_update() { ++m_steps; }

 private:
  ChunkCost const& chunk(int number) const { return m_shape.chunk(number); }
  ChunkPlan const& places(int chunk) const { return m_shape.places(chunk); }
  BlockCost const& block(int number) const { return m_model.blocks[number]; }
  BlockPlan const& plan_of(int block) const { return m_plan.blocks[block]; }
  // By chunk, the last job of a kind; -1: none.
  using Jobs = std::vector<int>;

  bool sums_on_host(int chunk) const { return places(chunk).gradients == Tier::host; }
  int copy(Tier from, Tier to, std::int64_t bytes, Waits const& waits);
  // What the bytes leave with, and what they are there with.
  struct Transfer {
    int left, there;
  };
  Transfer transfer(Tier from, Tier to, std::int64_t bytes, Waits const& waits);
  // To other ranks, after `job`; that itself if there is nothing to send.
  int send(std::int64_t bytes, int job, Waits waits = {});
  int add_for(int chunk, LaneCosts const& costs, Waits const& waits);
  void need_parameters(std::vector<int> const& chunks, Waits& waits);
  // What layout makes wait, told in functions of their own.
  void need_room_as_layout_gives_it(int station, Waits& waits);
  void need_memory_as_layout_gives_it(int block, Waits& waits);
  int gradients_room_as_layout_gives_it(Tier tier, int group) const;
  int slot_free(int piece) const;

  BlockModel const& m_model;
  Plan const& m_plan;
  BlockShape const& m_shape;
  StationBytes const& m_bytes;
  Machine const& m_machine;
  Timeline m_timeline;

  // Of the current micro-batch.
  int m_last_pass = -1;                       // its last job
  Jobs m_fetched, m_spilled;                  // by chunk; by block
  std::vector<std::array<int, 2>> m_reloads;  // by block: halves
  struct Left {                               // the device, and its room was not needed yet
    int station;
    Tier to;
    int job;
    std::int64_t bytes;
  };
  void left(Left const& what);
  // By group beside which chunks were updated, and by tier: what let go of their gradients.
  std::vector<PerTier<int>> m_released;
  std::deque<Left> m_left;  // in the order of stations
  std::int64_t m_left_bytes = 0;

  // Of steps.
  Jobs m_gradient, m_updated;  // by chunk: what its gradient, its parameters were last changed by
  static constexpr int kAtOnce = kSlicesAhead + 1;
  std::array<Waits, kAtOnce> m_brought{Waits{}, Waits{}, Waits{}};  // for pieces from the next on
  Jobs m_freed;                           // what emptied the slots, in turn
  std::array<int, 2> m_norms = {-1, -1};  // the last one of either lane
  int m_go = -1;                          // what an update waits for: a commit, or its own norm
  int m_reported = -1;                    // the step before; -1: there was none
  int m_steps = 0;
};

}  // namespace spillway
