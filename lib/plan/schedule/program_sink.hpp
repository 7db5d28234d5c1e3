// A Sink for tell_step.hpp that turns the events of a GraphShape into items of a Program.
#pragma once

#include <map>

#include "plan/schedule/update_items.hpp"

namespace spillway {

class ProgramSink : public UpdateItems {
 public:
  // All three outlive it.
  ProgramSink(Draft& draft, GraphShape const& shape, Variants& variants);

  void begin_micro_batch(MicroBatch const& now);
  void enter(Station const& at);
  void fetch(int chunk, Station const& at);
  void drop(int chunk, Station const& at);
  void forward(Station const& at, int piece);
  void leave(Station const& at, TensorId tensor);
  void turn(MicroBatch const& now);
  void reload(Station const& at, TensorId tensor);
  void backward(Station const& at, int piece);
  void end_micro_batch(MicroBatch const&);
  void begin_update() { m_writer.begin_segment("update", 0); }
  void commit(bool knows_norms) { m_writer.commit(knows_norms); }
  void report() { m_writer.report(); }
  void end_update();

 private:
  // The last item of every block in a pass.
  using BlockEnds = std::map<int, ItemNumber>;
  void begin_pass();
  void set_leaving_horizons(int step);
  void note_start();
  void repeat_forward_ops(int block);

  Variants& m_variants;
  std::map<TensorOfMember, BufferId> m_spilled;
  ItemNumber m_pass_begin = 0;
  BlockEnds m_ends;
  std::size_t m_backward_ops = 0;  // so many have been written in this pass
};

}  // namespace spillway
