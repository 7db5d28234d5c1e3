// A StepTimeline is a Sink for tell_step.hpp. It turns a step's events into jobs on lanes, and
// notes what each job waits for and how long it takes.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "plan/search/block_shape.hpp"
#include "plan/search/estimate_bytes.hpp"
#include "plan/search/waits.hpp"
#include "plan/time/timeline.hpp"

namespace spillway {

class StepTimeline : public StepSink {
 public:
  // The arguments must outlive this object. The shape must be of the grain `fine`.
  StepTimeline(Machine const& machine, BlockShape const& shape, StationBytes const& bytes);

  Timeline const& timeline() const { return m_timeline; }

  // The meaning of these events is explained in tell_step.hpp.
  void begin_micro_batches(MicroBatches const& now);
  void fetch(int chunk, Station const& at);
  void forward(Station const& at, int piece);
  void leave(Station const& at, AwayPart const& part);
  void reload(Station const& at, AwayPart const& part, int member);
  void backward(Station const& at, int piece);
  void bring_sum_to_visit(int chunk, Station const& at);
  void collect(GradientId gradient, Station const& at);
  void take_sum_home(int chunk, Station const& at);
  void accumulate(GradientId gradient, MicroBatch const&);
  void add_part(GradientId gradient, MicroBatch const&);
  void reduce(GradientId gradient, MicroBatch const&);
  void sum_slice(GradientId gradient, MicroBatch const&);
  void gather_gradient(GradientId gradient, MicroBatch const&);
  void norm(int chunk);
  void commit(bool knows_norms);
  void report();
  void bring(int piece, bool late);
  void update(int piece);
  void updated(int chunk);
  void end_group(int) { m_released.push_back({-1, -1, -1}); }
  void end_update() { ++m_steps; }

 private:
  using Jobs = IdVector<int>;  // -1 means no job

  ChunkCost const& chunk(int number) const { return m_shape.chunk(number); }
  ChunkPlan const& places(int chunk) const { return m_shape.places(chunk); }
  bool sums_on_host(int chunk) const { return places(chunk).gradients == Tier::host; }
  // The bytes have left after the job `left`, and have arrived after the job `there`. All pieces
  // but the last one have arrived after `nearly_there`.
  struct TransferJobs {
    int left, there, nearly_there;
  };
  // The bytes have room at their destination after the job `room`.
  TransferJobs transfer(Tier from, Tier to, std::int64_t bytes, Waits waits, int room = -1);
  // Sends bytes to others of `group` after `job` and returns the new job, or `job` if there are no
  // bytes.
  int send(std::int64_t bytes, RankRange const& group, int job, Waits waits = {});
  // Gathers a chunk's parameters from the ranks that share it out, after its update, in tier `to`.
  int gather(int chunk, std::int64_t sent_bytes, Tier to, int room = -1);
  // Brings the sum of a gradient over ranks from where the ranks exchange it.
  void bring_sum(GradientId gradient);
  // Adds a job on the lane that sums up the chunk's gradient.
  int add_for(int chunk, LaneCosts const& costs, Waits const& waits);
  void need_parameters(std::vector<int> const& chunks, Waits& waits);
  // Layout gives freed bytes to other tensors, so a job that uses these waits for the last job that
  // used the bytes. These functions add such waits, or return the job to wait for (-1 if none).
  void need_room_as_layout_gives_it(Station const& at, Waits& waits);
  void need_memory_as_layout_gives_it(int block, Waits& waits);
  int gradients_room_as_layout_gives_it(Tier tier, int group) const;
  int exchange_room_as_layout_gives_it(int chunk);
  int slot_free(int piece) const;

  Machine const& m_machine;
  BlockShape const& m_shape;
  StationBytes const& m_bytes;
  Timeline m_timeline;

  // These variables belong to the micro-batches that walk together now.
  int m_members = 1;          // how many they are
  int m_last_pass = -1;       // the last job of their passes
  Jobs m_fetched, m_spilled;  // jobs that fetch each chunk, or spill what a member has in a block
  IdVector<std::array<int, 2>> m_reloads;  // jobs that reload either half of that
  int of_member(int block, int member) const { return block * m_members + member; }
  // Numbers the stations of all members in the order in which they pass them.
  int passed(Station const& at) const { return of_member(at.number, at.batch.member); }
  // Holds the last two jobs that sum on the host lane. Copies for such sums use two buffers in
  // turn.
  std::array<int, 2> m_summed_before = {-1, -1};
  // Holds, for each group and tier, the last job that uses gradients of chunks updated beside it.
  IdVector<PerTier<int>> m_released;
  struct Left {
    int passed;
    Tier to;
    int job;
    std::int64_t bytes;
  };
  void note_left(Left const& left);
  // Lists transfers from the device whose room was not needed yet, oldest first.
  std::deque<Left> m_left;
  std::int64_t m_left_bytes = 0;

  // These variables go on from step to step.
  std::array<int, 2> m_gathered = {-1, -1};  // the last two jobs that took what was gathered away
  Jobs m_exchanged;                          // jobs that ended exchanges of gradients, in order
  std::ptrdiff_t m_exchanges = 0;            // how many have begun
  Jobs m_gradient, m_updated;  // the last job that changed each chunk's gradient, or its parameters
  Jobs m_visiting;             // the last job that changed each sum that visits the device
  static constexpr int kAtOnce = kSlicesAhead + 1;
  // What updates of the next pieces wait for.
  std::array<Waits, kAtOnce> m_update_waits{Waits{}, Waits{}, Waits{}};
  Jobs m_freed;                           // the last job that emptied each slot
  Jobs m_to_drive, m_from_drive;          // jobs that emptied parts of the rings, in order
  std::array<int, 2> m_norms = {-1, -1};  // the last norm on the compute lane and on the host lane
  int m_go = -1;                          // the commit or norm that updates wait for
  int m_reported = -1;                    // the job after which the next step begins
  int m_steps = 0;
};

}  // namespace spillway
