// The one author of what happens in a training step, and in which order: it tells a step event by
// event. A Shape says what there is: the ops of a graph, or blocks of a model in a few pieces. A
// Sink makes of the events what it is for: items of a Program, jobs of a timeline, bytes, sums.
// Both are types, not interfaces, since the search tells a step some thousand times: an empty event
// costs nothing.
//
// A station is one block's forward pass in a micro-batch, or one block's backward pass with what it
// repeats; a micro-batch passes all in order. The backward ones are also called groups, counted
// from 0.
//
// A Shape has these functions. Those that return several chunks return a range of their numbers;
// `visit` is called with each of what has no number.
// clang-format off
//   int blocks(), groups(), block_of(group);   stations are blocks(), then groups()
//   fetches(station), drops(station)           chunks whose parameters come before it, go after it
//   int forward_pieces(block), backward_pieces(group);
//   leaving(block, piece, visit)               activations that leave after a forward piece
//   coming(group, piece, visit)                those that come back before a backward piece
//   gradients(group, piece, visit)             GradientIds that are whole after a backward piece
//   int parts(chunk);                          further uses of its parameters
//   bool exchanges();                          gradients are summed over ranks
//   bool reduces_each(chunk);                  after every micro-batch
//   chunks(), updated_after(group)             to update, in order; early ones group by group
//   int loss_group(), pieces(), chunk_of(piece);   pieces of updates follow the order of chunks
//   int ahead(piece);                          pieces that are brought before it has run
// clang-format on
//
// A Sink derives from StepSink, which names all events, and hides those that it hears.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace spillway {

// This says where a micro-batch stands in its step.
struct MicroBatch {
  char const* segment;
  bool first, last;
  int member = 0;  // its number among those that its segment runs

  bool is_only() const { return first && last; }
};

enum class Pass : std::uint8_t { forward, backward };

// This says where a micro-batch is in its passes.
struct Station {
  Pass pass;
  int block;
  int number;  // counts all stations of a micro-batch, in order
  int group;   // counts those of the backward pass; -1 in the forward pass
  MicroBatch const& batch;
};

// This names a chunk's gradient, or what a further use of its parameters has made of it.
struct GradientId {
  int chunk = -1, part = -1;  // -1 means the chunk's own
};

// These are all events of a step, in about the order in which they come. What a Sink does not hear
// costs nothing.
struct StepSink {
  void begin_micro_batch(MicroBatch const&) {}
  void enter(Station const&) {}
  void fetch(int /*chunk*/, Station const&) {}  // a chunk's parameters come, and go
  void drop(int /*chunk*/, Station const&) {}
  void forward(Station const&, int /*piece*/) {}
  void leave(Station const&, auto const& /*activation*/) {}
  void turn(MicroBatch const&) {}  // the forward pass is over
  void reload(Station const&, auto const& /*activation*/) {}
  void backward(Station const&, int /*piece*/) {}
  void collect(GradientId, Station const&) {
  }  // the micro-batch's gradient goes to where the step's is summed up
  void accumulate(GradientId, MicroBatch const&) {
  }  // the micro-batch's gradient is added to the step's
  void add_part(GradientId, MicroBatch const&) {}  // the part is added to its chunk's gradient
  void reduce(GradientId, MicroBatch const&) {}    // its slices go out to ranks: all_to_all
  void gather(GradientId, MicroBatch const&) {}    // they are summed and go round: all_gather
  void end_micro_batch(MicroBatch const&) {}
  void begin_update() {}
  void norm(int /*chunk*/) {}
  void commit(bool /*knows_norms*/) {}
  void report() {}                             // says norms that the commit did not know
  void bring(int /*piece*/, bool /*late*/) {}  // what needs no gradient comes or, `late`, the rest
  void update(int /*piece*/) {}
  void updated(int /*chunk*/) {}  // all its pieces are done
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

  // Tells what follows the last micro-batch.
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
    bool joins_step;  // since it is of one micro-batch only
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

  // Sums over ranks that were begun beside the groups before are taken up behind this one.
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

  // A gradient of this micro-batch is whole, so it goes to where the step's is summed up. Within
  // the only micro-batch, parts are added by the ops that make them.
  void collect(GradientId gradient, Station const& at) {
    bool const is_only = at.batch.is_only();
    if (is_only && gradient.part >= 0) return;
    m_sink.collect(gradient, at);
    if (m_shape.exchanges() && !is_only && m_shape.reduces_each(gradient.chunk))
      reduce({gradient, true, at.batch});
    else
      join_step(gradient, at.batch);
  }

  // With the last micro-batch all uses of the parameters are added, and summed over ranks where
  // that was not done for every micro-batch.
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

  // Tells the second half of the `count` reductions that have waited longest.
  void gather(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      auto const reduction = m_reductions[i];
      m_sink.gather(reduction.gradient, reduction.batch);
      if (reduction.joins_step) join_step(reduction.gradient, reduction.batch);
    }
    m_reductions.erase(m_reductions.begin(),
                       m_reductions.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // Where nothing waits for the norm of all gradients, the step commits as soon as its loss is
  // known and chunks are updated beside the groups that follow.
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

  // Brings what the next pieces need. A gradient comes once it is whole, and with it what else
  // comes from the device. If that began earlier, it would wait for a slot while gradients wait
  // behind it in the lane.
  void bring_ahead() {
    if (m_next == m_shape.pieces()) return;
    int const last = std::min(m_next + m_shape.ahead(m_next) + 1, m_shape.pieces());
    for (; m_state_brought < last; ++m_state_brought) m_sink.bring(m_state_brought, false);
    for (; m_brought < std::min(last, m_whole); ++m_brought) m_sink.bring(m_brought, true);
  }

  Shape const& m_shape;
  Sink& m_sink;
  bool m_early;
  std::vector<Reduction> m_reductions;  // those that were begun and not taken up
  std::vector<int> m_unfinished;        // how many uses of each chunk's parameters have joined
  // These count pieces of updates: the next to run, those whose gradients are whole, those for
  // which all that needs no gradient was brought, and those for which everything was.
  int m_next = 0, m_whole = 0, m_state_brought = 0, m_brought = 0;
};

}  // namespace spillway
