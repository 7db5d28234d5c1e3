// A Trace shows when the items of steps ran, and beside it when they were predicted to run, as
// events in Chrome's trace format, which Perfetto reads (docs/trace.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plan/trace/step_events.hpp"
#include "plan/trace/step_times.hpp"

namespace spillway {

// A trace is a list in JSON: kTraceBegin, then events with kTraceComma between them, kTraceEnd.
inline constexpr std::string_view kTraceBegin = "[\n", kTraceComma = ",\n", kTraceEnd = "\n]\n";

// Says how far a trace goes, so that another one goes on behind it.
struct TraceReach {
  std::int64_t end_ns = 0;  // when the last event ends
  std::int64_t flows = 0;   // the highest number of an arrow
  // Takes in an event that was written, as JSON. Returns false if the text is no event.
  bool take_in(std::string_view event);
};

struct MeasuredStep {
  StepHead head;
  double begin_s = 0;  // when the step began, by a clock of which only differences count
  StepTimes times;
};

class Trace {
 public:
  // `program` must outlive the Trace. The simulation is the one of its steps.
  Trace(Program const& program, Simulation const& simulation, TraceReach const& behind);
  Trace(Trace const&) = delete;
  Trace& operator=(Trace const&) = delete;

  // Writes a measured step and, if it does not overlap the one of the step before, the predicted
  // one. A step that does not follow the last one goes behind it, after a gap that stands for the
  // time between them.
  void add(MeasuredStep const& step, TraceSink const& sink);

  TraceReach reach() const;

 private:
  std::int64_t begin_ns(MeasuredStep const& step, bool follows) const;

  StepTimes m_predicted_times;
  TraceReach m_reach;
  StepEvents m_measured, m_predicted;
  std::optional<std::int64_t> m_last;  // the number of the last step
  double m_origin_s = 0;               // what MeasuredStep::begin_s is at m_origin_ns
  std::int64_t m_origin_ns = 0;
};

// Returns a whole trace of the predicted step alone.
std::string predicted_trace(Program const& program, Simulation const& simulation);
// Returns whether a text begins as predicted_trace does.
bool begins_predicted_trace(std::string_view beginning);

}  // namespace spillway
