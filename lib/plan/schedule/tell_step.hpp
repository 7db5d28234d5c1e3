// StepTelling alone decides what happens in a training step, and in which order. It tells a step
// event by event. A Shape says what the step consists of: the ops of a graph, or a model's blocks
// in a few pieces. A Sink receives the events and turns them into items of a Program, jobs of a
// timeline, bytes, or sums. Shapes and Sinks are template arguments, not interfaces, since the
// search tells some thousand steps: this way an event that a Sink ignores costs nothing.
//
// A station is one block's forward pass in a micro-batch, or one block's backward pass with the ops
// that it repeats. A micro-batch passes all stations in order. Several micro-batches may walk
// together: all of them pass a station, in order, before the first passes the next one, so that
// parameters are fetched once for all of them (GreedySnake, arXiv:2512.17570, vertical order).
// Backward stations are also called groups, and groups are counted from 0.
//
// A Shape has the following functions:
//   blocks(), groups(), block_of(group)  count blocks and groups, and name the block of a group.
//   fetches(station), drops(station)     list chunks to fetch before, and drop after, the station.
//   forward_pieces(block), backward_pieces(group)  count the pieces of a station.
//   leaving(block, piece, visit)    calls visit(activation) for what leaves after a forward piece.
//   coming(station, piece, visit)   calls visit(activation, member) for what comes, and for which
//                                   of the micro-batches, before a backward piece.
//   gradients(group, piece, visit)  calls visit(GradientId) for what a backward piece completes.
//   sums_visit(chunk)    says whether the sum of the chunk's gradients, whose home is not on the
//                        device, comes to the device for micro-batches that walk together.
//   sums_on_drive(chunk)  says whether it is one of these, and its home is the drive.
//   parts(chunk)         counts the further uses of the chunk's parameters.
//   exchanges()          says whether gradients are summed over ranks.
//   reduces_each(chunk)  says whether ranks sum the gradient after every micro-batch.
//   is_shared_out(chunk)  says whether each rank keeps and updates only a slice of the chunk.
//   has_copies(chunk)    says whether other ranks keep what a rank keeps of the chunk.
//   chunks(), updated_after(group)  list all chunks to update, or those to update after the group.
//   loss_group()               returns the group after which the loss is known.
//   pieces(), chunk_of(piece)  count the pieces of all updates, and name the chunk of a piece.
//   ahead(piece)               says how many later pieces are brought before the piece runs.
//
// A Sink derives from StepSink, which has an empty function for every event, and defines its own
// functions for the events that it needs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace spillway {

// A MicroBatch describes the place of a micro-batch in its step.
struct MicroBatch {
  bool first, last;
  int member = 0;  // numbers the micro-batches that walk together

  bool is_only() const { return first && last; }
};

// These micro-batches walk together in a segment.
struct MicroBatches {
  char const* segment;
  int count;
  bool first, last;  // whether the step's first, and last, micro-batch is among them

  MicroBatch operator[](int member) const {
    return {first && member == 0, last && member + 1 == count, member};
  }
};

enum class Pass : std::uint8_t { forward, backward };

// A Station says where a micro-batch is in its passes.
struct Station {
  Pass pass;
  int block;
  int number;  // numbers all stations of a micro-batch from 0
  int group;   // numbers the groups from 0, and is -1 in the forward pass
  MicroBatch batch;
  int members;  // how many micro-batches walk together
};

// Names a chunk's gradient, or a part that a further use of a parameter adds to the gradient.
struct GradientId {
  int chunk = -1, part = -1;  // if `part` is -1, the chunk's whole gradient is meant
};

// A StepSink has a function for each event of a step, in about the order in which the events come.
// The functions do nothing, so an event that a Sink does not handle costs nothing.
struct StepSink {
  void begin_micro_batches(MicroBatches const&) {}
  void enter(Station const&) {}
  // The first member's station fetches the chunk's parameters to the device, the last one's drops
  // them.
  void fetch(int /*chunk*/, Station const&) {}
  void drop(int /*chunk*/, Station const&) {}
  void forward(Station const&, int /*piece*/) {}
  void leave(Station const&, auto const& /*activation*/) {}
  void turn(MicroBatches const&) {}  // the forward pass is over
  void reload(Station const&, auto const& /*activation*/, int /*member*/) {}
  void backward(Station const&, int /*piece*/) {}
  // Brings the sum of a chunk's gradients, which visits the device, for the next group.
  void bring_sum_to_visit(int /*chunk*/, Station const&) {}
  // The gradient of a micro-batch goes to where the step's gradient is summed up.
  void collect(GradientId, Station const&) {}
  // A sum that visits the device goes home, after the last one of micro-batches that walk together,
  // or once it is summed over ranks.
  void take_sum_home(int /*chunk*/, Station const&) {}
  // The gradient of a later micro-batch is added to the step's gradient.
  void accumulate(GradientId, MicroBatch const&) {}
  void add_part(GradientId, MicroBatch const&) {}   // a part is added to its chunk's gradient
  void reduce(GradientId, MicroBatch const&) {}     // ranks exchange slices of a gradient
  void sum_slice(GradientId, MicroBatch const&) {}  // each rank sums what it has for its slice
  // Each rank sends its sum to those that keep it.
  void gather_gradient(GradientId, MicroBatch const&) {}
  void end_passes() {}  // all passes and all sums over ranks are told, but not the last updates
  void end_micro_batches(MicroBatches const&) {}
  void begin_update() {}
  void norm(int /*chunk*/) {}
  void commit(bool /*knows_norms*/) {}
  void report() {}  // norms that the commit did not know are reported
  // Operands of a piece are brought to its lane: if `late` is true, the gradient and operands that
  // come from the device, otherwise all other operands.
  void bring(int /*piece*/, bool /*late*/) {}
  void update(int /*piece*/) {}
  void updated(int /*chunk*/) {}  // all pieces of the chunk's update have run
  // Each rank sends the slice that it has updated to those that share the chunk out with it.
  void gather_parameters(int /*chunk*/) {}
  void end_group(int /*group*/) {}
  void end_update() {}
};

template <class Shape, class Sink>
class StepTelling {
 public:
  // If `redo` is true, all updates wait for the norm of the whole gradient (see Plan::redo).
  StepTelling(Shape const& shape, bool redo, Sink& sink)
      : m_shape(shape), m_sink(sink), m_early(!redo) {}

  void begin_step() {
    m_unfinished.clear();
    m_next = m_whole = m_state_brought = m_brought = 0;
  }

  void micro_batches(MicroBatches const& now) {
    m_sink.begin_micro_batches(now);
    for (int block = 0; block < m_shape.blocks(); ++block) {
      for (int member = 0; member < now.count; ++member)
        forward({Pass::forward, block, block, -1, now[member], now.count});
    }
    m_sink.turn(now);
    for (int group = 0; group < m_shape.groups(); ++group) backward(group, now);
    end_sums(m_reductions.size());
    m_sink.end_passes();
    if (now.last && m_early) update_after(m_shape.groups());
    m_sink.end_micro_batches(now);
  }

  // Tells the events that follow the last micro-batch.
  void update() {
    m_sink.begin_update();
    if (m_early) {
      m_sink.report();
    } else {
      m_whole = m_shape.pieces();
      bring_ahead();
      for (int const chunk : m_shape.chunks()) take_norm(chunk);
      m_sink.commit(true);
      for (int const chunk : m_shape.chunks()) update(chunk);
    }
    if (m_next != m_shape.pieces()) throw std::logic_error("a step leaves updates out");
    m_sink.end_update();
  }

 private:
  struct Reduction {
    GradientId gradient;
    bool joins_step;  // says whether the sum over ranks is still to be added to the step's gradient
    Station at;
  };

  void forward(Station const& at) {
    enter(at);
    for (int piece = 0; piece < m_shape.forward_pieces(at.block); ++piece) {
      m_sink.forward(at, piece);
      m_shape.leaving(at.block, piece, [&](auto const& it) { m_sink.leave(at, it); });
    }
    go(at);
  }

  // Tells the events of one group, and ends the sums over ranks that earlier groups have begun.
  void backward(int group, MicroBatches const& now) {
    auto const begun_earlier = m_reductions.size();
    int const block = m_shape.block_of(group), number = m_shape.blocks() + group;
    for (int member = 0; member < now.count; ++member) {
      bool const is_end = member + 1 == now.count;
      backward({Pass::backward, block, number, group, now[member], now.count},
               is_end ? begun_earlier : 0);
    }
    if (now.last && m_early) update_after(group);
  }
  void backward(Station const& at, std::size_t sums_to_end) {
    enter(at);
    bring_sums(at);
    for (int piece = 0; piece < m_shape.backward_pieces(at.group); ++piece) {
      m_shape.coming(at, piece, [&](auto const& it, int member) { m_sink.reload(at, it, member); });
      m_sink.backward(at, piece);
      m_shape.gradients(at.group, piece, [&](GradientId it) { collect(it, at); });
    }
    end_sums(sums_to_end);
    go(at);
  }

  // Brings sums that visit the device one group ahead.
  void bring_sums(Station const& at) {
    if (at.batch.member > 0 || at.batch.first) return;
    auto const bring = [&](GradientId it) {
      if (it.part < 0 && m_shape.sums_visit(it.chunk)) m_sink.bring_sum_to_visit(it.chunk, at);
    };
    int const last = std::min(at.group + 1, m_shape.groups() - 1);
    for (int group = at.group == 0 ? 0 : at.group + 1; group <= last; ++group) {
      for (int piece = 0; piece < m_shape.backward_pieces(group); ++piece)
        m_shape.gradients(group, piece, bring);
    }
  }

  void enter(Station const& at) {
    m_sink.enter(at);
    if (at.batch.member > 0) return;
    for (int const chunk : m_shape.fetches(at.number)) m_sink.fetch(chunk, at);
  }
  void go(Station const& at) {
    if (at.batch.member + 1 < at.members) return;
    for (int const chunk : m_shape.drops(at.number)) m_sink.drop(chunk, at);
  }

  // Sends a complete gradient of a micro-batch to where the step's gradient is summed up. If a step
  // has only one micro-batch, parts are skipped, since the ops that make parts also add them.
  void collect(GradientId gradient, Station const& at) {
    bool const is_only = at.batch.is_only();
    if (is_only && gradient.part >= 0) return;
    m_sink.collect(gradient, at);
    if (m_shape.sums_visit(gradient.chunk))
      join_visiting(gradient, at);
    else if (m_shape.exchanges() && !is_only && m_shape.reduces_each(gradient.chunk))
      reduce({gradient, true, at});
    else
      join_step(gradient, at);
  }

  // Adds a micro-batch's gradient to a sum that visits the device. What ranks sum before it is used
  // does not go to the drive before that.
  void join_visiting(GradientId gradient, Station const& at) {
    if (!at.batch.first) m_sink.accumulate(gradient, at.batch);
    if (at.batch.member + 1 < at.members) return;
    bool const reduces = at.batch.last && m_shape.exchanges();
    if (!reduces || !m_shape.sums_on_drive(gradient.chunk)) go_home(gradient.chunk, at);
    if (reduces) reduce({gradient, false, at});
  }
  // The norm of a whole sum is known before it goes to the drive, which so reads it only for the
  // update.
  void go_home(int chunk, Station const& at) {
    if (at.batch.last && m_shape.sums_on_drive(chunk)) m_sink.norm(chunk);
    m_sink.take_sum_home(chunk, at);
  }
  void take_norm(int chunk) {
    if (!m_shape.sums_on_drive(chunk)) m_sink.norm(chunk);
  }

  // Adds a micro-batch's gradient to the step's gradient. In the last micro-batch, also adds all
  // parts, and then begins the sum over ranks unless ranks have summed in every micro-batch.
  void join_step(GradientId gradient, Station const& at) {
    MicroBatch const& now = at.batch;
    int const chunk = gradient.chunk, parts = now.first ? 0 : m_shape.parts(chunk);
    if (!now.first) m_sink.accumulate(gradient, now);
    if (!now.last || !is_last_use(chunk, 1 + parts)) return;
    for (int part = 0; part < parts; ++part) m_sink.add_part({chunk, part}, now);
    bool const reduced = !now.first && m_shape.reduces_each(chunk);
    if (m_shape.exchanges() && !reduced) reduce({{chunk}, false, at});
  }

  bool is_last_use(int chunk, int uses) {
    if (uses == 1) return true;
    auto const at = static_cast<std::size_t>(chunk);
    if (m_unfinished.size() <= at) m_unfinished.resize(at + 1, 0);
    return ++m_unfinished[at] == uses;
  }

  void reduce(Reduction const& reduction) {
    m_sink.reduce(reduction.gradient, reduction.at.batch);
    m_reductions.push_back(reduction);
  }

  // Ends the `count` oldest sums over ranks.
  void end_sums(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      auto const [gradient, joins_step, at] = m_reductions[i];
      m_sink.sum_slice(gradient, at.batch);
      if (m_shape.has_copies(gradient.chunk)) m_sink.gather_gradient(gradient, at.batch);
      if (joins_step) join_step(gradient, at);
      if (m_shape.sums_on_drive(gradient.chunk)) go_home(gradient.chunk, at);
    }
    m_reductions.erase(m_reductions.begin(),
                       m_reductions.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // Tells which updates come after the group, if updates do not wait for the norm of the whole
  // gradient. The commit comes before all updates, as soon as the loss is known.
  void update_after(int group) {
    if (group == m_shape.loss_group()) {
      m_sink.commit(false);
      bring_ahead();
    }
    for (int const chunk : m_shape.updated_after(group)) {
      take_norm(chunk);
      while (m_whole < m_shape.pieces() && m_shape.chunk_of(m_whole) == chunk) ++m_whole;
    }
    for (int const chunk : m_shape.updated_after(group)) update(chunk);
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
    if (m_shape.is_shared_out(chunk)) m_sink.gather_parameters(chunk);
  }

  // Brings operands to the next pieces. A gradient comes once it is complete, and operands whose
  // home is the device come with it. If such operands came earlier, they would wait for a slot, and
  // gradients would wait behind them in the lane.
  void bring_ahead() {
    if (m_next == m_shape.pieces()) return;
    int const last = std::min(m_next + m_shape.ahead(m_next) + 1, m_shape.pieces());
    for (; m_state_brought < last; ++m_state_brought) m_sink.bring(m_state_brought, false);
    for (; m_brought < std::min(last, m_whole); ++m_brought) m_sink.bring(m_brought, true);
  }

  Shape const& m_shape;
  Sink& m_sink;
  bool m_early;
  std::vector<Reduction> m_reductions;  // lists sums over ranks that have begun but not ended
  std::vector<int> m_unfinished;        // counts uses of each chunk that have added to its gradient
  // Of all pieces of updates, m_next have run, m_whole have a complete gradient, m_state_brought
  // have all operands but the late ones, and m_brought have all operands.
  int m_next = 0, m_whole = 0, m_state_brought = 0, m_brought = 0;
};

}  // namespace spillway
