// A ComputeLane is the compute lane as measurements use it, without an Engine.
#pragma once

#include <memory>
#include <span>

#include "base/steady_clock.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// A ComputeLane launches work and times it: by events in a stream if the device works by itself,
// else by the host's clock. It must be destroyed before the memory that its work uses.
class ComputeLane {
 public:
  explicit ComputeLane(Compute const& compute);

  // Returns the Exec with which kernels are launched.
  Exec const& exec() const { return *m_exec; }
  Stream* stream() const { return m_stream.get(); }  // null if work ends when its call returns

  // Calls before(), if there is one, and then launch(). Returns the seconds that the work of
  // launch() took, once it has ended; before() is not timed.
  template <class Launch, class Before>
  double seconds(Launch const& launch, Before const& before) const {
    before();
    auto const start = SteadyClock::now();
    if (m_stream) m_stream->record(*m_begin);
    launch();
    if (!m_stream) {
      m_exec->fence();
      return seconds_since(start);
    }
    m_stream->record(*m_end);
    wait_for_end();
    return m_end->seconds_since(*m_begin);
  }
  template <class Launch>
  double seconds(Launch const& launch) const {
    return seconds(launch, [] {});
  }

 private:
  void wait_for_end() const;

  std::unique_ptr<Stream> m_stream;
  std::unique_ptr<Event> m_begin, m_end;
  std::unique_ptr<Exec const> m_exec;
};

// Waits until the device has come to an event. Throws Error(device).
void wait_for(Event const& event);

// Returns how many cores the lane keeps busy: all threads of the kernels, or the one thread that
// launches them on a device with memory of its own.
double compute_cores(Compute const& compute);

}  // namespace spillway
