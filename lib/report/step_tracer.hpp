// A StepTracer writes chosen steps of a run to trace.json while the run goes on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "plan/trace/trace.hpp"
#include "report/trace_file.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

// A thread of its own, which yields to all others, makes and writes the events. Only the thread
// that runs the engine may call a StepTracer.
class StepTracer {
 public:
  // Steps are numbered as in metrics.jsonl, from 1. Throws Error(bad_input) if `file` cannot be
  // written, or if no thread can be started.
  StepTracer(std::filesystem::path file, std::vector<std::int64_t> steps);
  ~StepTracer();  // writes what is left
  StepTracer(StepTracer const&) = delete;
  StepTracer& operator=(StepTracer const&) = delete;

  // The steps from here on are those of `program`, which must live until this has been called with
  // another one, or `settle`, or the destructor.
  void follow(Program const& program, Simulation const& simulation);
  // Copies the times of a run, if its step was chosen, and returns at once.
  void take(RunTimes const& run);
  // Waits until all that was taken is written.
  void settle();

 private:
  void work();
  void write(MeasuredStep const& step);

  std::vector<std::int64_t> m_steps;
  TraceFile m_file;
  std::optional<Trace> m_trace;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<MeasuredStep> m_taken;  // what is not written yet, the step at work included
  bool m_ends = false;
  std::thread m_thread;
};

}  // namespace spillway
