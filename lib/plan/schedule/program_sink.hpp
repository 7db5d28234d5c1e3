// ProgramSink is a Sink for tell_step.hpp. It turns a GraphShape's events into items of a Program.
#pragma once

#include <map>

#include "plan/schedule/update_items.hpp"

namespace spillway {

class ProgramSink : public UpdateItems {
 public:
  // The arguments must outlive this object.
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
  // Maps each block to its last item in a pass.
  using BlockEnds = std::map<int, ItemNumber>;
  void begin_pass();
  void set_leaving_horizons(int step);
  void note_start();
  void repeat_forward_ops(int block);

  Variants& m_variants;
  std::map<TensorOfMember, BufferId> m_spilled;
  ItemNumber m_pass_begin = 0;
  BlockEnds m_ends;
  std::size_t m_backward_ops = 0;  // how many ops this pass has written
};

}  // namespace spillway
