// TransferLanes runs the lanes that move bytes between tiers, all on one thread.
#pragma once

#include <optional>
#include <vector>

#include "runtime/engine_state.hpp"

namespace spillway {

// Each lane walks the total order by itself and starts its items in that order, each item when its
// own waits are satisfied. Copies in memory are done at once, or launched on the device. Transfers
// from and to storage are only started: several are under way at a time and end in any order, but
// they are published in the total order. When nothing can start, the thread sleeps in
// SpillFile::wait if a transfer is under way, else until the doorbell rings.
class TransferLanes {
 public:
  static constexpr unsigned kBits = 1u << index(Lane::h2d) | 1u << index(Lane::d2h) |
                                    1u << index(Lane::nvme_read) | 1u << index(Lane::nvme_write);

  // `lanes` has a bit for each lane that has items; only bits of kBits count. `state` must outlive
  // this object.
  TransferLanes(EngineState& state, unsigned lanes);

  void run();    // returns when the engine fails or ends
  void drain();  // waits until no transfer is under way, also after a failure

 private:
  struct Started {
    BoundItem const* bound = nullptr;
    Run* run = nullptr;
    Execution instance;
    bool done = false;
  };
  struct Walk {
    Lane lane;
    Cursor cursor;
    bool ready_noted = false;      // true once ready_s of the item at the cursor is set
    std::vector<Started> started;  // a ring buffer, indexed by `published` and `begun`
    // `published` and `begun` are the numbers of items that were published and begun.
    std::uint64_t published = 0, begun = 0;
    int under_way = 0;                     // how many transfers of the spill file are under way
    SteadyClock::time_point busy_since{};  // when under_way rose above 0
  };
  // An Obstacle is what the item at a cursor waits for: a clock must reach `position` or, if
  // `clock` is null, a transfer must end and make room.
  struct Obstacle {
    LaneClock* clock = nullptr;
    std::uint64_t position = 0;
  };

  bool reap();
  bool start_next(std::size_t walk);
  std::optional<Obstacle> obstacle(Walk& walk, Item const& item);
  void start(std::size_t walk, Item const& item);
  void finish(SpillDone const& done);
  void publish(Walk& walk);
  void sleep();
  bool past_first_run() const;

  EngineState& m_state;
  std::vector<Walk> m_walks;
  std::vector<Obstacle> m_obstacles;  // what the lanes wait for now
  int m_under_way = 0;                // how many transfers of the spill file are under way
};

}  // namespace spillway
