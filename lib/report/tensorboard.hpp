// Writes event files, which TensorBoard shows: records of scalars by step, in its own framing
// (tensorboard/compat/proto: Event, Summary, SessionLog; lib/io/record_writer).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "io/file/file.hpp"
#include "report/metrics.hpp"

namespace spillway {

// Returns a record's bytes: length and data, each followed by its masked CRC-32C.
std::string event_record(std::string_view event);

// The functions in this group return an Event's bytes. `time_s` counts seconds since 1970.
std::string first_event(double time_s);  // says which version of Events follows
// TensorBoard forgets what earlier records say of this step and of later ones.
std::string start_event(std::int64_t step, double time_s);
// Tags are the names that metrics.jsonl has. What the row does not know is left out.
std::string scalars_event(StepMetrics const& row, double time_s);

// An EventFile is one job's file in the run directory, with a name of its own. If it cannot be
// written, this is logged once, and training goes on without it. The constructor throws
// Error(bad_input) if the file cannot be made.
class EventFile {
 public:
  explicit EventFile(std::filesystem::path const& run_dir);
  void start(std::int64_t step);
  void append(StepMetrics const& row);

 private:
  void write(std::string_view event);

  std::filesystem::path m_path;
  FileDescriptor m_file;
};

}  // namespace spillway
