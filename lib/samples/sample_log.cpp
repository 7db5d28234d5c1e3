#include "samples/sample_log.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace spillway {

SampleLog::SampleLog(std::filesystem::path const& run_dir, int rank)
    : m_path(run_dir / fmt::format("samples-{}.txt", rank)), m_file(m_path, std::ios::app) {}

void SampleLog::commit_step(std::int64_t step) {
  for (auto const& [sample, window, epoch] : m_loaded)
    m_file << fmt::format("{} {} {} {}\n", step, sample, window, epoch);
  m_loaded.clear();
  m_file.flush();
  if (!m_file)
    throw Error(Status::storage, m_path.string() + ": cannot be written (debug.log_samples)");
}

}  // namespace spillway
