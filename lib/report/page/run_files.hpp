// Reads the files of a run directory, as far as they are there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "report/page/metric_rows.hpp"
#include "report/page/page_json.hpp"

namespace spillway {

struct RunFiles {
  std::filesystem::path directory;
  MetricRows rows;
  PageJson environment, summary, plan;  // objects; null where there is none
  std::optional<Config> config;
  PageJson plans = PageJson::array();  // what plan_cells returns, with `file` and `step`, by step
  PageJson rok = PageJson::array(), traces = PageJson::array();
  std::vector<std::string> notes;  // what is missing or cannot be read, in words
};

// `rok` names a table of `spillway rok`; if it is empty, rok.csv in the directory is read if there
// is one. Throws Error(bad_input) if the directory is no run's, or if `rok` cannot be read.
RunFiles read_run_files(std::filesystem::path const& directory, std::filesystem::path const& rok);

// Returns the files of the directory that read_run_files reads.
std::vector<std::filesystem::path> files_of_run(std::filesystem::path const& directory);

}  // namespace spillway
