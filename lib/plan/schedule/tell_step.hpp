// StepTelling alone decides what happens in a training step, and in which order. It tells a step
// event by event. A Shape says what the step consists of: the ops of a graph, or a model's blocks
// in a few pieces. A Sink receives the events and turns them into items of a Program, jobs of a
// timeline, bytes, or sums. Shapes and Sinks are template arguments, not interfaces, since the
// search tells some thousand steps: this way an event that a Sink ignores costs nothing.
//
// A station is one block's forward pass in a micro-batch, or one block's backward pass with the ops
// that it repeats. A micro-batch passes all stations in order. Backward stations are also called
// groups, and groups are counted from 0.
//
// A Shape has the following functions. Some return a range of chunk numbers; those that have a
// parameter `visit` call it with each activation or GradientId.
// clang-format off
//   int blocks(), groups(), block_of(group);   stations are blocks(), then groups()
//   fetches(station), drops(station)           chunks to fetch before, drop after the station
//   int forward_pieces(block), backward_pieces(group);
//   leaving(block, piece, visit)               activations that leave after a forward piece
//   coming(group, piece, visit)                activations that come before a backward piece
//   gradients(group, piece, visit)             gradients that are whole after a backward piece
//   int parts(chunk);                          further uses of the chunk's parameters
//   bool exchanges();                          whether gradients are summed over ranks
//   bool reduces_each(chunk);                  whether ranks sum after every micro-batch
//   chunks(), updated_after(group)             chunks to update: all in order; early, by group
//   int loss_group(), pieces(), chunk_of(piece);   pieces of updates follow the order of chunks
//   int ahead(piece);                          how many later pieces are brought before it runs
// clang-format on
//
// A Sink derives from StepSink, which has a function for every event, and defines those functions
// again whose events it needs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace spillway {

// A MicroBatch describes the place of a micro-batch in its step.
struct MicroBatch {
  char const* segment;
  bool first, last;
  int member = 0;  // its number among the micro-batches that its segment runs

  bool is_only() const { return first && last; }
};

enum class Pass : std::uint8_t { forward, backward };

// A Station says where a micro-batch is in its passes.
struct Station {
  Pass pass;
  int block;
  int number;  // the station's place among all stations of a micro-batch
  int group;   // the number of the group, or -1 in the forward pass
  MicroBatch const& batch;
};

// Names a chunk's gradient, or the part that a further use of its parameters adds to the gradient.
struct GradientId {
  int chunk = -1, part = -1;  // a part of -1 means the chunk's own gradient
};

// These are all events of a step, in about the order in which they come. An event that a Sink does
// not handle costs nothing.
struct StepSink {
  void begin_micro_batch(MicroBatch const&) {}
  void enter(Station const&) {}
  void fetch(int /*chunk*/, Station const&) {}  // parameters come to the device
  void drop(int /*chunk*/, Station const&) {}
  void forward(Station const&, int /*piece*/) {}
  void leave(Station const&, auto const& /*activation*/) {}
  void turn(MicroBatch const&) {}  // the forward pass is over
  void reload(Station const&, auto const& /*activation*/) {}
  void backward(Station const&, int /*piece*/) {}
  void collect(GradientId, Station const&) {
  }  // the micro-batch's gradient goes to where the step's gradient is summed up
  void accumulate(GradientId, MicroBatch const&) {
  }  // the micro-batch's gradient is added to the step's gradient
  void add_part(GradientId, MicroBatch const&) {}  // the part is added to its chunk's gradient
  void reduce(GradientId, MicroBatch const&) {}    // ranks exchange slices (all_to_all)
  void gather(GradientId, MicroBatch const&) {}    // summed slices go to all (all_gather)
  void end_micro_batch(MicroBatch const&) {}
  void begin_update() {}
  void norm(int /*chunk*/) {}
  void commit(bool /*knows_norms*/) {}
  void report() {}  // reports norms that the commit did not know
  // If `late`, the gradient and operands from the device come, otherwise all other operands.
  void bring(int /*piece*/, bool /*late*/) {}
  void update(int /*piece*/) {}
  void updated(int /*chunk*/) {}  // all pieces of the chunk are done
  void end_group(int /*group*/) {}
  void end_update() {}
};

template <class Shape, class Sink>
class StepTelling {
 public:
  // If `redo`, all updates wait for the norm of all gradients (Plan::redo).
  StepTelling(Shape const& shape, bool redo, Sink& sink)
      : m_shape(shape), m_sink(sink), m_early(!redo) {}

  void begin_step() {
    m_unfinished.clear();
    m_next = m_whole = m_state_brought = m_brought = 0;
  }

  void micro_batch(MicroBatch const& now) {
    m_sink.begin_micro_batch(now);
    for (int block = 0; block < m_shape.blocks(); ++block)
      forward({Pass::forward, block, block, -1, now});
    m_sink.turn(now);
    for (int group = 0; group < m_shape.groups(); ++group)
      backward({Pass::backward, m_shape.block_of(group), m_shape.blocks() + group, group, now});
    gather(m_reductions.size());
    if (now.last && m_early) update_after(m_shape.groups());
    m_sink.end_micro_batch(now);
  }

  // Tells the events that follow the last micro-batch.
  void update() {
    m_sink.begin_update();
    if (m_early) {
      m_sink.report();
    } else {
      m_whole = m_shape.pieces();
      bring_ahead();
      for (int const chunk : m_shape.chunks()) m_sink.norm(chunk);
      m_sink.commit(true);
      for (int const chunk : m_shape.chunks()) update(chunk);
    }
    if (m_next != m_shape.pieces()) throw std::logic_error("a step leaves updates out");
    m_sink.end_update();
  }

 private:
  struct Reduction {
    GradientId gradient;
    bool joins_step;  // the reduced gradient is then added to the step's gradient
    MicroBatch batch;
  };

  void forward(Station const& at) {
    enter(at);
    for (int piece = 0; piece < m_shape.forward_pieces(at.block); ++piece) {
      m_sink.forward(at, piece);
      m_shape.leaving(at.block, piece, [&](auto const& it) { m_sink.leave(at, it); });
    }
    go(at);
  }

  // Tells the events of one group. Reductions that began in earlier groups end after it.
  void backward(Station const& at) {
    auto const begun_earlier = m_reductions.size();
    enter(at);
    for (int piece = 0; piece < m_shape.backward_pieces(at.group); ++piece) {
      m_shape.coming(at.group, piece, [&](auto const& it) { m_sink.reload(at, it); });
      m_sink.backward(at, piece);
      m_shape.gradients(at.group, piece, [&](GradientId it) { collect(it, at); });
    }
    gather(begun_earlier);
    go(at);
    if (at.batch.last && m_early) update_after(at.group);
  }

  void enter(Station const& at) {
    m_sink.enter(at);
    for (int const chunk : m_shape.fetches(at.number)) m_sink.fetch(chunk, at);
  }
  void go(Station const& at) {
    for (int const chunk : m_shape.drops(at.number)) m_sink.drop(chunk, at);
  }

  // Sends a whole gradient of this micro-batch to where the step's gradient is summed up. If there
  // is only one micro-batch, the ops that make parts also add them.
  void collect(GradientId gradient, Station const& at) {
    bool const is_only = at.batch.is_only();
    if (is_only && gradient.part >= 0) return;
    m_sink.collect(gradient, at);
    if (m_shape.exchanges() && !is_only && m_shape.reduces_each(gradient.chunk))
      reduce({gradient, true, at.batch});
    else
      join_step(gradient, at.batch);
  }

  // Adds the gradient to the step's gradient. In the last micro-batch, also adds all parts, and
  // then sums over ranks unless every micro-batch has done so.
  void join_step(GradientId gradient, MicroBatch const& now) {
    int const chunk = gradient.chunk, parts = now.first ? 0 : m_shape.parts(chunk);
    if (!now.first) m_sink.accumulate(gradient, now);
    if (!now.last || !is_last_use(chunk, 1 + parts)) return;
    for (int part = 0; part < parts; ++part) m_sink.add_part({chunk, part}, now);
    bool const reduced = !now.first && m_shape.reduces_each(chunk);
    if (m_shape.exchanges() && !reduced) reduce({{chunk}, false, now});
  }

  bool is_last_use(int chunk, int uses) {
    if (uses == 1) return true;
    auto const at = static_cast<std::size_t>(chunk);
    if (m_unfinished.size() <= at) m_unfinished.resize(at + 1, 0);
    return ++m_unfinished[at] == uses;
  }

  void reduce(Reduction const& reduction) {
    m_sink.reduce(reduction.gradient, reduction.batch);
    m_reductions.push_back(reduction);
  }

  // Tells the second half of the `count` oldest reductions.
  void gather(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      auto const reduction = m_reductions[i];
      m_sink.gather(reduction.gradient, reduction.batch);
      if (reduction.joins_step) join_step(reduction.gradient, reduction.batch);
    }
    m_reductions.erase(m_reductions.begin(),
                       m_reductions.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // Commits as soon as the loss is known, and then updates chunks beside the groups that follow.
  // This is done only if no update waits for the norm of all gradients.
  void update_after(int group) {
    if (group == m_shape.loss_group()) {
      m_sink.commit(false);
      bring_ahead();
    }
    for (int const chunk : m_shape.updated_after(group)) {
      m_sink.norm(chunk);
      update(chunk);
    }
    m_sink.end_group(group);
  }

  void update(int chunk) {
    int end = m_next;
    while (end < m_shape.pieces() && m_shape.chunk_of(end) == chunk) ++end;
    m_whole = std::max(m_whole, end);
    for (; m_next < end; ++m_next) {
      bring_ahead();
      m_sink.update(m_next);
    }
    m_sink.updated(chunk);
  }

  // Brings operands of the next pieces. A gradient comes once it is whole, together with operands
  // from the device. If these came earlier, they would wait for a slot, and gradients would wait
  // behind them in the lane.
  void bring_ahead() {
    if (m_next == m_shape.pieces()) return;
    int const last = std::min(m_next + m_shape.ahead(m_next) + 1, m_shape.pieces());
    for (; m_state_brought < last; ++m_state_brought) m_sink.bring(m_state_brought, false);
    for (; m_brought < std::min(last, m_whole); ++m_brought) m_sink.bring(m_brought, true);
  }

  Shape const& m_shape;
  Sink& m_sink;
  bool m_early;
  std::vector<Reduction> m_reductions;  // reductions that have begun but not ended
  std::vector<int> m_unfinished;        // how many uses of each chunk have added to its gradient
  // These count pieces: pieces that have run, pieces whose gradients are whole, pieces whose
  // operands have come except the late ones, and pieces whose operands have all come.
  int m_next = 0, m_whole = 0, m_state_brought = 0, m_brought = 0;
};

}  // namespace spillway
