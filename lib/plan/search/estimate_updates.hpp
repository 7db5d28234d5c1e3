// The updates of an estimated step: what Updates makes of them, in coarser pieces.
#pragma once

#include <array>
#include <vector>

#include "plan/schedule/streaming.hpp"
#include "plan/search/estimate_jobs.hpp"
#include "plan/search/plan_costs.hpp"

namespace spillway {

class EstimateUpdates {
 public:
  // All outlive it.
  EstimateUpdates(BlockModel const& model, Plan const& plan, EstimateJobs& jobs);

  void begin_step();
  // A chunk's gradient is made and summed up.
  void set_gradient(int chunk, int job) { m_gradient[static_cast<std::size_t>(chunk)] = job; }
  // In a step's last micro-batch, after a block's backward pass and after all; `now`: its job.
  void after_backward(int block, int now);
  void after_all(int now);

  // The end of the step that was: the next one's batch comes after it. -1: there was none.
  int reported() const { return m_reported; }
  // What changed a chunk's parameters last; -1: nothing yet.
  int updated(int chunk) const { return m_updated[static_cast<std::size_t>(chunk)]; }

 private:
  struct Piece {
    int chunk;
    int slot = -1;  // counted on through the step; -1: all is within reach
  };
  struct Work {  // a chunk's
    Brought needs;
    std::int64_t parts;
    int ahead, slots;  // of parts
  };
  Work const& work(int chunk) const { return m_work[static_cast<std::size_t>(chunk)]; }
  ChunkCost const& cost(int chunk) const;
  ChunkPlan const& places(int chunk) const;
  Piece const& piece(int number) const { return m_pieces[static_cast<std::size_t>(number)]; }
  Waits& brought(int number) { return m_brought[static_cast<std::size_t>(number % kAtOnce)]; }
  void add_pieces(int chunk);
  bool is_late(Work const& work, ChunkPlan const& places, Tier tier) const;
  void bring_ahead(int now);
  void bring(int number, bool late, int now);
  void update_group(std::vector<int> const& chunks, int now);
  void update(int chunk, int after, int now);
  void run(Piece const& piece, int after, Waits waits);
  int norm(int chunk);
  int slot_free(Piece const& piece) const;

  static constexpr int kAtOnce = kSlicesAhead + 1;
  BlockModel const& m_model;
  Plan const& m_plan;
  EstimateJobs& m_jobs;
  std::vector<Work> m_work;
  std::vector<Piece> m_pieces;             // of a step, in order
  std::vector<std::vector<int>> m_chunks;  // by the block after which they are updated; none first
  int m_slots = 0;                         // of a step
  int m_next = 0, m_complete = 0;          // pieces: to run; before it gradients are whole
  int m_away_begun = 0, m_begun = 0;       // to bring: what is not on the device; all
  std::array<Waits, kAtOnce> m_brought;    // for the pieces from m_next on
  std::vector<int> m_updated, m_gradient;  // per chunk
  std::vector<int> m_freed;                // what emptied the slots, in turn
  std::array<int, 2> m_norms = {-1, -1};   // the last one of either lane
  int m_reported = -1, m_steps = 0;
};

}  // namespace spillway
