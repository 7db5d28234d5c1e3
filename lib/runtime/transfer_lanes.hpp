// The lanes that move bytes between tiers, on one thread.
#pragma once

#include <optional>
#include <vector>

#include "runtime/engine_state.hpp"

namespace spillway {

// Every lane walks the total order alone and starts its items in it, each when its own waits are
// satisfied. Copies in memory are done at once, or launched on the device; those to and from
// storage are begun, are under way together and end in any order, and are published in order all
// the same. The thread sleeps when nothing can start: in storage while something is under way, else
// until somebody rings.
class TransferLanes {
 public:
  static constexpr unsigned kBits = 1u << index(Lane::h2d) | 1u << index(Lane::d2h) |
                                    1u << index(Lane::nvme_read) | 1u << index(Lane::nvme_write);

  // `lanes`: bits of those of kBits that have items. `state` outlives it.
  TransferLanes(EngineState& state, unsigned lanes);

  void run();    // until the engine fails or ends
  void drain();  // waits for what is under way, in vain too

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
    bool has_turn = false;                   // the item at the cursor has been looked at
    std::vector<Started> started;            // a ring, by number
    std::uint64_t published = 0, count = 0;  // numbers: items published, and started
    int under_way = 0;                       // in the spill file
    SteadyClock::time_point busy_since{};    // while there are some
  };
  // What the item at a cursor waits for; no clock: room, which a transfer's end makes.
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
  std::vector<Obstacle> m_obstacles;  // of this round
  int m_under_way = 0;                // in the spill file
};

}  // namespace spillway
