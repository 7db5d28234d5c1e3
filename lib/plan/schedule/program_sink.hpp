// ProgramSink is a Sink (see tell_step.hpp) that turns a GraphShape's events into items.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "plan/schedule/update_items.hpp"

namespace spillway {

// A Draft is a Program without offsets and waits.
struct Draft {
  Program program;
  // Lists for each segment that runs micro-batches the first item of each backward op. A reload or
  // a repeated forward op before the backward op can be the first item.
  std::vector<std::vector<ItemNumber>> op_starts = {};
};

class ProgramSink : public UpdateItems {
 public:
  using UpdateItems::UpdateItems;
  Draft take() {
    m_writer.drop_spare();
    return {std::move(m_writer.program), std::move(m_op_starts)};
  }

  void begin_micro_batches(MicroBatches const& now);
  void enter(Station const& at);
  void fetch(int chunk, Station const& at);
  void drop(int chunk, Station const& at);
  void forward(Station const& at, int piece);
  void leave(Station const& at, TensorId tensor);
  void turn(MicroBatches const& now);
  void reload(Station const& at, TensorId tensor, int member);
  void backward(Station const& at, int piece);
  void end_passes() { set_leaving_horizons(); }
  void end_micro_batches(MicroBatches const&) { m_writer.end_segment(); }
  void begin_update() { m_writer.begin_segment("update", 0); }
  void commit(bool knows_norms);
  void report();
  void end_update();

 private:
  // A Passed is a station that a micro-batch has passed: its first item, and that of its last op.
  struct Passed {
    ItemNumber first, last_op = -1;
  };
  void begin_pass() { m_passed.clear(); }
  void set_leaving_horizons();
  bool copies_gradient(Item const& item) const;
  bool copies_once(int chunk) const;
  void note_start();
  void repeat_forward_ops(int block);
  int variant(int op, bool first);

  std::map<TensorOfMember, BufferId> m_spilled;
  std::vector<Passed> m_passed;                      // the stations of this pass so far
  std::size_t m_members = 1;                         // how many micro-batches walk together now
  std::size_t m_backward_ops = 0;                    // counts this pass's backward ops so far
  std::vector<std::vector<ItemNumber>> m_op_starts;  // becomes the Draft's op_starts
  std::map<std::pair<int, bool>, int> m_variants;
};

}  // namespace spillway
