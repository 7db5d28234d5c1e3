// A Sink for tell_step.hpp that turns a step's events into jobs on lanes: what each of them waits
// for, and how long it takes.
#pragma once

#include <array>
#include <deque>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <vector>

#include "plan/search/block_shape.hpp"
#include "plan/search/estimate_bytes.hpp"
#include "plan/time/timeline.hpp"

namespace spillway {

// A job waits for these; -1, which is none, is left out.
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
  // All outlive it. `shape` is of the grain `fine`.
  StepTimeline(Machine const& machine, BlockShape const& shape, StationBytes const& bytes);

  Timeline const& timeline() const { return m_timeline; }

  // tell_step.hpp says what these events mean.
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
  using Jobs = IdVector<int>;  // -1: none

  ChunkCost const& chunk(int number) const { return m_shape.chunk(number); }
  ChunkPlan const& places(int chunk) const { return m_shape.places(chunk); }
  bool sums_on_host(int chunk) const { return places(chunk).gradients == Tier::host; }
  // With the job `left` the bytes have left, and with the job `there` they have arrived.
  struct Transfer {
    int left, there;
  };
  Transfer transfer(Tier from, Tier to, std::int64_t bytes, Waits const& waits);
  // Sends to other ranks after `job`, and returns that itself if there is nothing to send.
  int send(std::int64_t bytes, int job, Waits waits = {});
  // Adds a job on the lane that sums up the chunk's gradient.
  int add_for(int chunk, LaneCosts const& costs, Waits const& waits);
  void need_parameters(std::vector<int> const& chunks, Waits& waits);
  // Layout gives bytes that were let go to something else, which waits for their last user.
  void need_room_as_layout_gives_it(int station, Waits& waits);
  void need_memory_as_layout_gives_it(int block, Waits& waits);
  int gradients_room_as_layout_gives_it(Tier tier, int group) const;
  int slot_free(int piece) const;

  Machine const& m_machine;
  BlockShape const& m_shape;
  StationBytes const& m_bytes;
  Timeline m_timeline;

  // These belong to the current micro-batch.
  int m_last_pass = -1;                    // the last job of its passes
  Jobs m_fetched, m_spilled;               // by chunk and by block: what brings or spills it
  IdVector<std::array<int, 2>> m_reloads;  // by block: of either half
  // By tier and by group: the last user of the gradients of chunks that are updated beside it.
  IdVector<PerTier<int>> m_released;
  struct Left {
    int station;
    Tier to;
    int job;
    std::int64_t bytes;
  };
  void note_left(Left const& left);
  std::deque<Left> m_left;  // what left the device and whose room was not needed yet, oldest first
  std::int64_t m_left_bytes = 0;

  // These go on from step to step.
  Jobs m_gradient, m_updated;  // by chunk: what last changed its gradient, its parameters
  static constexpr int kAtOnce = kSlicesAhead + 1;
  std::array<Waits, kAtOnce> m_brought{Waits{}, Waits{}, Waits{}};  // for the next pieces
  Jobs m_freed;                           // by slot, in turn: what emptied it
  std::array<int, 2> m_norms = {-1, -1};  // the last one of the compute lane, and of the host lane
  int m_go = -1;                          // an update waits for this: a commit, or its own norm
  int m_reported = -1;                    // ends a step: the next one begins after it
  int m_steps = 0;
};

}  // namespace spillway
