// A step's events as items of a Program: a Sink for tell_step.hpp, of a GraphShape.
#pragma once

#include <map>

#include "plan/schedule/gradient_items.hpp"
#include "plan/schedule/update_items.hpp"

namespace spillway {

class ProgramSink : public StepSink {
 public:
  // All outlive it.
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
  void collect(GradientId gradient, Station const& at) { m_gradients.collect(gradient, at); }
  void accumulate(GradientId gradient, MicroBatch const& now) {
    m_gradients.accumulate(gradient, now);
  }
  void add_part(GradientId gradient, MicroBatch const&) { m_gradients.add_part(gradient); }
  void reduce(GradientId gradient, MicroBatch const& now) { m_gradients.reduce(gradient, now); }
  void gather(GradientId gradient, MicroBatch const& now) { m_gradients.gather(gradient, now); }
  void end_micro_batch(MicroBatch const&);
  void begin_update() { m_writer.begin_segment("update", 0); }
  void norm(int chunk) { m_updates.norm(chunk); }
  void commit(bool knows_norms) { m_writer.commit(knows_norms); }
  void report() { m_writer.report(); }
  void bring(int piece, bool late) { m_updates.bring(piece, late); }
  void update(int piece) { m_updates.update(piece); }
  void end_group(int) { m_updates.end_group(); }
  void end_update();

 private:
  // The last item of every block in a pass.
  using BlockEnds = std::map<int, ItemNumber>;
  void begin_pass();
  void set_leaving_horizons(int step);
  void note_start();
  void repeat_forward_ops(int block);

  Draft& m_draft;
  ProgramWriter& m_writer;
  GraphShape const& m_shape;
  Variants& m_variants;
  GradientItems m_gradients;
  UpdateItems m_updates;
  std::map<TensorOfMember, BufferId> m_spilled;
  ItemNumber m_pass_begin = 0;
  BlockEnds m_ends;
  std::size_t m_backward_ops = 0;  // that are done
};

}  // namespace spillway
