// Holds the streams with their pieces of work, and the events with their records. A decision lets
// the first piece of one stream go on by one stage.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/support/cuda/piece.hpp"
#include "tests/support/cuda/settings.hpp"

namespace spillway::test::cuda {

struct QueuedStream {
  int device;
  Component clock;
  std::deque<Piece> pieces;
  bool is_default = false;  // means the device's default stream, which has no handle
  bool blocks = false;      // means that it and the default stream wait for each other
};

struct RecordedEvent {
  int device;
  bool timed;
  std::shared_ptr<Record> latest;  // is null if the event was never recorded
};

// Handles are numbers that are never used again, so that a call with an old handle is noticed.
class Queues {
 public:
  void restart(Settings const& settings);  // draws new probabilities; keeps streams and events

  int add_stream(int device, int component, bool blocks = false);
  int add_event(int device, bool timed);
  QueuedStream* stream(int id);
  // Returns the device's default stream, or -1 if nobody has used it.
  int default_stream(int device) const;
  RecordedEvent* event(int id);
  std::map<int, QueuedStream>& streams() { return m_streams; }
  void remove_stream(int id) { m_streams.erase(id); }
  void remove_event(int id) { m_events.erase(id); }

  void remove_all() {
    m_streams.clear();
    m_events.clear();
  }

  bool idle() const;
  bool touches(AddressRange const& range) const;  // returns whether unfinished work touches it
  void drop_work();

  // These return how many decisions to take during a call that enqueues work, and during one that
  // asks whether a record is done. -1 means all that can be taken.
  std::int64_t decisions_after_enqueue();
  std::int64_t decisions_of_query();
  // Takes one decision, which may prefer work that must end before the stream `wanted` can go on;
  // -1 means no stream. Returns false if no stream can go on.
  bool decide(int wanted);
  std::vector<std::string> leftovers() const;

 private:
  bool draw(double probability);
  int needed_by(int wanted) const;
  std::vector<int> able() const;

  std::map<int, QueuedStream> m_streams;
  std::map<int, RecordedEvent> m_events;
  int m_next = 1, m_latest = -1;
  std::mt19937_64 m_random{1};
  Laziness m_laziness = Laziness::by_seed;
  // These are probabilities: m_eagerness to take decisions when work is enqueued, m_obedience to
  // prefer wanted work, and m_staying to choose the stream of the last decision again.
  double m_eagerness = 0.5, m_obedience = 0.5, m_staying = 0.5;
};

}  // namespace spillway::test::cuda
