#include "report/step_tracer.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/cannot_start.hpp"
#include "base/log.hpp"
#include "base/spelling.hpp"
#include "base/unix_time.hpp"

namespace spillway {
namespace {

MeasuredStep measured(RunTimes const& run) {
  MeasuredStep step;
  step.head.number = run.step + 1;
  step.head.unix_s = unix_time_s() - seconds_since(run.begin);
  step.head.word = word(run.word);
  step.begin_s = std::chrono::duration<double>(run.begin.time_since_epoch()).count();
  step.times.items.assign(run.times.begin(), run.times.end());
  step.times.step_s = run.step_s;
  return step;
}

}  // namespace

StepTracer::StepTracer(std::filesystem::path file, std::vector<std::int64_t> steps)
    : m_steps(std::move(steps)), m_file(std::move(file)) {
  start_threads([this] { m_thread = std::thread([this] { work(); }); });
}

StepTracer::~StepTracer() {
  {
    std::lock_guard const lock(m_mutex);
    m_ends = true;
  }
  m_changed.notify_all();
  m_thread.join();
}

void StepTracer::follow(Program const& program, Simulation const& simulation) {
  settle();
  auto const behind = m_trace ? m_trace->reach() : m_file.reach();
  m_trace.emplace(program, simulation, behind);
}

void StepTracer::take(RunTimes const& run) {
  if (std::ranges::find(m_steps, run.step + 1) == m_steps.end()) return;
  auto step = measured(run);
  {
    std::lock_guard const lock(m_mutex);
    m_taken.push_back(std::move(step));
  }
  m_changed.notify_all();
}

void StepTracer::settle() {
  std::unique_lock lock(m_mutex);
  m_changed.wait(lock, [this] { return m_taken.empty(); });
}

void StepTracer::work() {
  setpriority(PRIO_PROCESS, 0, 19);  // on Linux, 0 means this thread alone
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_ends || !m_taken.empty(); });
    if (m_taken.empty()) return;
    auto const& step = m_taken.front();  // stays where it is while others are added
    lock.unlock();
    write(step);
    lock.lock();
    m_taken.pop_front();
    m_changed.notify_all();
  }
}

// A trace is no reason to end a run.
void StepTracer::write(MeasuredStep const& step) {
  try {
    m_file.begin_step();
    m_trace->add(step, [this](std::string const& event) { m_file.append(event); });
    m_file.end_step();
  } catch (std::exception const& error) {
    log_warning("trace.json: step {}: {}; training goes on without the rest of it",
                step.head.number.value_or(0), error.what());
  }
}

}  // namespace spillway
