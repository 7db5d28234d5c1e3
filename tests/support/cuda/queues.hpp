// Streams with their work, events with their records, and who may go on.
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
};

struct RecordedEvent {
  int device;
  bool timed;
  std::shared_ptr<Record> latest;  // null: never recorded
};

// Handles are numbers that are never used again, so one that has ended is known as such.
class Queues {
 public:
  void restart(Settings const& settings);  // ends nothing, forgets no stream

  int add_stream(int device, int component);
  int add_event(int device, bool timed);
  QueuedStream* stream(int id);
  RecordedEvent* event(int id);
  std::map<int, QueuedStream>& streams() { return m_streams; }
  void remove_stream(int id) { m_streams.erase(id); }
  void remove_event(int id) { m_events.erase(id); }

  void remove_all() {
    m_streams.clear();
    m_events.clear();
  }

  bool idle() const;
  bool touches(Range const& range) const;  // whether work that has not ended does
  void drop_work();

  // Returns how many decisions follow an enqueue and a query: -1 is all that can be taken.
  std::int64_t decisions_after_enqueue();
  std::int64_t decisions_of_query();
  // Takes one decision on some stream. What `wanted` needs may go first; -1 wants nothing. Returns
  // false if there is none to take.
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
  // Probabilities: to take decisions at an enqueue, to do what is wanted first, to stay.
  double m_eagerness = 0.5, m_obedience = 0.5, m_staying = 0.5;
};

}  // namespace spillway::test::cuda
