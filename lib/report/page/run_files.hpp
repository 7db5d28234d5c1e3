// Reads for a page what lies in a run directory, as far as it is there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "monitor/run_record.hpp"
#include "report/page/page_json.hpp"

namespace spillway {

struct RunFiles {
  RunRecord record = {};               // without checkpoints
  PageJson plan = {};                  // the object in plan.json; null where there is none
  PageJson plans = PageJson::array();  // what plan_cells returns, with `file` and `step`, by step
  PageJson rok = PageJson::array(), traces = PageJson::array();
  std::vector<std::string> notes = {};  // what is missing or cannot be read, in words
};

// `rok` names a table of `spillway rok`; if it is empty, rok.csv in the directory is read if there
// is one. Throws Error(bad_input) if the directory is no run's, or if `rok` cannot be read.
RunFiles read_run_files(std::filesystem::path const& directory, std::filesystem::path const& rok);

// Returns the files of the directory that read_run_files reads.
std::vector<std::filesystem::path> files_of_run(std::filesystem::path const& directory);

}  // namespace spillway
