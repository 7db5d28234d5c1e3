// With debug.log_samples, each rank logs which samples it has trained on. Tests use the log to
// prove that every sample is used once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

namespace spillway {

class SampleLog {
 public:
  // Appends to <run_dir>/samples-<rank>.txt a line for every sample: "<step> <sample> <window>
  // <epoch>". Samples are counted over all ranks and jobs. Windows are numbered in all files that
  // data.train has in this job or, if they are not equally long, by their first token.
  SampleLog(std::filesystem::path const& run_dir, int rank);

  struct Loaded {
    std::int64_t sample, window, epoch;
  };
  void add(Loaded const& loaded) { m_loaded.push_back(loaded); }
  void begin_step() { m_loaded.clear(); }  // forgets samples of a step that was not committed
  // Throws Error(storage).
  void commit_step(std::int64_t step);

 private:
  std::filesystem::path m_path;
  std::ofstream m_file;
  std::vector<Loaded> m_loaded;  // samples loaded since the step began
};

}  // namespace spillway
