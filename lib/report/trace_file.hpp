// A TraceFile is trace.json, to which a run and the jobs that go on with it append events.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "io/file/file.hpp"
#include "plan/trace/trace.hpp"

namespace spillway {

// If the file cannot be written, the rest of the step is missing; this is logged once a step and
// does not end the run. If the file is removed or replaced, events go on in a new one.
class TraceFile {
 public:
  // Opens the file, or makes it. An event that a killed job has left unfinished is removed. Throws
  // Error(bad_input) if the file is no trace or cannot be written.
  explicit TraceFile(std::filesystem::path path);

  // Says how far the trace in the file goes.
  TraceReach const& reach() const { return m_reach; }

  void begin_step();
  void append(std::string const& event);
  // Ends the list of events, which the next step takes up again.
  void end_step();

 private:
  void open();
  std::int64_t take_in(std::string_view text);
  void flush();

  std::filesystem::path m_path;
  FileDescriptor m_file;
  TraceReach m_reach;
  std::int64_t m_end_bytes = 0;  // where the last event ends
  std::string m_waiting;         // what is not written yet
  bool m_failed = false;         // true if something of this step could not be written
};

}  // namespace spillway
