// Runs the items of one lane on a device that works by itself.
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

// One thread launches the lane's items, which puts them into a stream; another one learns of their
// ends. An item that waits for an item of another such lane waits in its stream, for an event that
// was recorded before. An item that waits for the host is launched once that is done. So no stream
// ever waits for what is not yet in a stream.
class DeviceLane {
 public:
  DeviceLane(EngineState& state, Lane lane, std::unique_ptr<Stream> stream);

  Stream& stream() { return *m_stream; }
  // Makes the events, before step 0. `awaited` says for each execution of a run, by the lane's own
  // count, whether the host waits for it.
  void prepare(std::vector<bool> const& awaited);

  // These are for the launching thread. Nothing is allocated.
  // The host's waits of the item are over, and the items of device lanes that it waits for have
  // been launched. `works` is false if the item is omitted in this run.
  void launch(Cursor const& cursor, Item const& item, bool works);

  // This is for the thread that learns of ends. If an item that the host waits for has ended, the
  // lane's clock tells. Throws Error(device).
  enum class Poll { nothing_awaited, not_yet, ended };
  Poll poll();

  // Counts the items in the stream.
  LaneClock const& launched() const { return m_launched; }
  LaneClock& launched() { return m_launched; }

 private:
  struct Mark {
    std::unique_ptr<Event> begin, end;
    bool awaited = false;
    BoundItem const* bound = nullptr;
    Run* run = nullptr;
    std::size_t instance = 0;
    std::optional<Lane> waited_for;  // the lane of its last wait
  };
  // Marks of three runs take turns. A run begins when the one before the last has ended on all
  // lanes, so a mark that is recorded again is one that nobody is about to wait for.
  static constexpr std::size_t kRuns = 3;

  // `position` counts from 1, over all runs.
  Mark& mark(std::uint64_t position) { return m_marks[(position - 1) % m_marks.size()]; }
  void wait_in_stream(Cursor const& cursor, Item const& item, Mark& mark);
  bool has_begun(Run& run) const;
  void note_times(Mark const& mark);

  EngineState& m_state;
  Lane m_lane;
  std::unique_ptr<Stream> m_stream;
  std::vector<Mark> m_marks;
  LaneClock m_launched;
  std::uint64_t m_ended = 0;  // items that the clock of the lane counts
  std::size_t m_last_instance = 0;
  double m_last_end_s = 0;  // of that instance, in its run
};

}  // namespace spillway
