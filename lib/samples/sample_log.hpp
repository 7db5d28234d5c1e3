// debug.log_samples: what each rank has trained on, for whoever wants to prove that every sample is
// used once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

namespace spillway {

class SampleLog {
 public:
  // Appends to <run_dir>/samples-<rank>.txt, a line for every sample: "<step> <sample> <window>
  // <epoch>", where samples are counted over all ranks and jobs, and windows are those of DataOrder
  // in all that data.train is in this job, or their first tokens where they are not equally long.
  SampleLog(std::filesystem::path const& run_dir, int rank);

  struct Loaded {
    std::int64_t sample, window, epoch;
  };
  void add(Loaded const& loaded) { m_loaded.push_back(loaded); }
  void begin_step() { m_loaded.clear(); }  // an attempt that was not committed is forgotten
  // Throws Error(storage).
  void commit_step(std::int64_t step);

 private:
  std::filesystem::path m_path;
  std::ofstream m_file;
  std::vector<Loaded> m_loaded;  // since the step began
};

}  // namespace spillway
