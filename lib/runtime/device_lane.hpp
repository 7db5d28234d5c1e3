// A DeviceLane runs the items of one lane on a device that works by itself, as GPUs do.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/device.hpp"
#include "kernels/exec.hpp"
#include "runtime/bind.hpp"
#include "runtime/cursor.hpp"
#include "runtime/lane_clock.hpp"

namespace spillway {

struct EngineState;
struct Run;

// One thread launches the lane's items, which means that it puts their work into a stream. Another
// thread learns when items have ended. If an item waits for an item of another DeviceLane, its
// stream waits for an event that was recorded before. If an item waits for work of the host, it is
// launched once that work is done. So no stream ever waits for something that is not yet in a
// stream.
class DeviceLane {
 public:
  DeviceLane(EngineState& state, Lane lane, std::unique_ptr<Stream> stream);

  Stream& stream() { return *m_stream; }
  // Makes the events. Must be called before step 0. `awaited` has an entry for each item that the
  // lane runs in a run, in the order of the run; it says whether the host waits for the item.
  void prepare(std::vector<bool> const& awaited);

  // Launches an item; only the launching thread calls this. The host's work that the item waits for
  // must have ended, and the items of other device lanes that it waits for must have been launched.
  // `works` is false if the item's work is left out in this run. Allocates nothing.
  void launch(Cursor const& cursor, Item const& item, bool works);

  // Only the thread that learns of ends calls this. If an item that the host waits for has ended,
  // it is counted on the lane's clock, with all items before it. Throws Error(device).
  enum class Poll { nothing_awaited, not_yet, ended };
  Poll poll();

  // These functions return the clock that counts the items that were put into the stream.
  LaneClock const& launched() const { return m_launched; }
  LaneClock& launched() { return m_launched; }

 private:
  struct LaunchedItem {
    std::unique_ptr<Event> begin, end;
    bool awaited = false;
    BoundItem const* bound = nullptr;
    Run* run = nullptr;
    std::size_t instance = 0;
    std::optional<Lane> last_awaited_lane;  // the lane of the last item that this item waits for
  };
  // Entries of three runs take turns. A run begins when the run before the last one has ended on
  // all lanes, so nobody still waits for an event that is recorded again.
  static constexpr std::size_t kRuns = 3;

  // `position` counts the lane's items from 1, over all runs.
  LaunchedItem& entry(std::uint64_t position) {
    return m_entries[(position - 1) % m_entries.size()];
  }
  void wait_in_stream(Cursor const& cursor, Item const& item, LaunchedItem& entry);
  bool has_begun(Run& run) const;
  void note_times(LaunchedItem const& entry);

  EngineState& m_state;
  Lane m_lane;
  std::unique_ptr<Stream> m_stream;
  std::vector<LaunchedItem> m_entries;
  LaneClock m_launched;
  std::uint64_t m_ended = 0;  // how many items the lane's clock has counted
  std::size_t m_last_instance = 0;
  double m_last_end_s = 0;  // when instance m_last_instance ended, since its run began
};

}  // namespace spillway
