// StepEvents write steps as the tracks of one process of a trace (docs/trace.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "plan/trace/lane_rows.hpp"
#include "plan/trace/live_counters.hpp"
#include "plan/trace/segment_walk.hpp"
#include "plan/trace/step_times.hpp"

namespace spillway {

// Gets the events one by one, each as JSON on a line without its end.
using TraceSink = std::function<void(std::string const&)>;

// A StepHead says which step of a run has these times. It is empty for a step of no run.
struct StepHead {
  std::optional<std::int64_t> number = {};  // as metrics.jsonl counts steps
  std::optional<double> unix_s = {};        // when the step began, since 1970
  std::string word = {};                    // how a measured step was committed
};

// A TraceProcess is a process of a trace, by its number and its name.
struct TraceProcess {
  int number = 0;
  std::string name;
};

class StepEvents {
 public:
  // `program` and `flows`, which counts the arrows of the whole trace, must outlive this object.
  StepEvents(Program const& program, TraceProcess process, std::int64_t& flows);

  // Returns whether all tracks are free for a step that begins then.
  bool has_room(StepTimes const& times, std::int64_t begin_ns) const;
  // Writes a step. If it `follows` the one before at once, its items may have waited for items of
  // that one.
  void write(StepHead const& head, StepTimes const& times, std::int64_t begin_ns, bool follows,
             TraceSink const& sink);
  // Returns when everything that was written has ended.
  std::int64_t end_ns() const { return m_end_ns; }

 private:
  struct Arrow {
    TrackSlice from, to;
  };

  std::int64_t at(double seconds) const;
  void write_step(StepHead const& head, StepTimes const& times, TraceSink const& sink);
  void write_items(StepHead const& head, StepTimes const& times, TraceSink const& sink);
  void write_item(StepHead const& head, SegmentWalk const& walk, Item const& item, double waited_s,
                  TrackSlice const& slice, TraceSink const& sink) const;
  void write_counters(std::int64_t at_ns, TraceSink const& sink);
  void write_arrow(Arrow const& arrow, TraceSink const& sink);
  void write_names(TraceSink const& sink) const;
  std::optional<Arrow> awaited(Item const& item, std::int64_t ready_ns,
                               TrackSlice const& slice) const;

  Program const& m_program;
  TraceProcess m_process;
  std::int64_t& m_flows;
  LaneRows m_rows;
  IdVector<TrackSlice> m_latest;  // when each item ran last
  LiveCounters m_counters;
  std::int64_t m_begin_ns = 0, m_step_end_ns = 0, m_end_ns = 0;
};

}  // namespace spillway
