// Makes the page of `spillway report`: one HTML file that needs no other.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/page/page_json.hpp"

namespace spillway {

struct PageParts {
  std::vector<std::filesystem::path> directories;  // of runs
  std::filesystem::path rok;  // a table of `spillway rok`; if empty, each run's own rok.csv
};

// Returns what the page shows, as docs/report.md describes it. Throws Error(bad_input) if a
// directory is no run's.
PageJson page_data(PageParts const& parts);

// Returns the page with this data in it. Nothing in the data can end the script that holds it, or
// be taken for HTML.
std::string page_html(PageJson const& data);
bool is_report_page(std::string_view beginning);

// Returns names for the directories: the last part of each or, where these are equal, the paths.
std::vector<std::string> run_names(std::vector<std::filesystem::path> const& directories);

// Returns `text` so that HTML shows it as it stands.
std::string html_escaped(std::string_view text);

}  // namespace spillway
