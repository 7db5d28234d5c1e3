#include "report/page/page.hpp"

#include <fmt/core.h>

#include <ctime>
#include <set>

#include "base/compact_json.hpp"
#include "report/page/figures.hpp"
#include "report/page/page_parts.hpp"
#include "report/page/rows_json.hpp"
#include "report/page/run_files.hpp"
#include "report/utc_text.hpp"
#include "version.hpp"

namespace spillway {
namespace {

constexpr std::string_view kHead = "<!DOCTYPE html>\n<!-- a report of runs, made by spillway -->\n";
constexpr std::size_t kMostRows = 4000;  // of metrics, for each run
constexpr int kForm = 1;                 // the version of the page's JSON

// Returns rows with `event` as they stand in the file.
PageJson events_json(RunHistory const& history) {
  auto json = PageJson::array();
  for (auto const& row : history.events()) {
    json.push_back(row.fields);
    if (row.done_again > 0) json.back()["done_again"] = row.done_again;
  }
  return json;
}

PageJson run_json(std::filesystem::path const& directory, std::filesystem::path const& rok,
                  std::string const& name) {
  auto const run = read_run_files(directory, rok);
  auto const& record = run.record;
  return {{"name", name},
          {"directory", directory.string()},
          {"notes", run.notes},
          {"figures", figures(run)},
          {"rows", rows_json(record.history.rows(), kMostRows)},
          {"events", events_json(record.history)},
          {"plans", run.plans},
          {"plan", run.plan},
          {"summary", record.summary},
          {"traces", run.traces},
          {"rok", run.rok}};
}

// Returns JSON in which a browser finds neither tags nor comments: those characters are escaped.
std::string script_text(PageJson const& data) {
  auto const json = compact_json(data, kInAscii);
  std::string text;
  text.reserve(json.size());
  for (char const c : json) {
    bool const is_markup = c == '<' || c == '>' || c == '&';
    is_markup ? text += fmt::format("\\u{:04x}", static_cast<unsigned>(c)) : text += c;
  }
  return text;
}

std::string script_of_page() {
  std::string text;
  for (auto const part : kPageScripts) text += part;
  return text;
}

// Replaces the mark `{{name}}`, which stands once in the template.
void fill(std::string& html, std::string_view name, std::string_view text) {
  auto const mark = fmt::format("{{{{{}}}}}", name);
  html.replace(html.find(mark), mark.size(), text);
}

std::string title_of(PageJson const& data) {
  std::string names;
  for (auto const& run : data.at("runs"))
    names += (names.empty() ? "" : ", ") + run.at("name").get<std::string>();
  return names + " - spillway report";
}

}  // namespace

std::vector<std::string> run_names(std::vector<std::filesystem::path> const& directories) {
  std::vector<std::string> names;
  for (auto const& directory : directories) {
    auto const whole = std::filesystem::absolute(directory / ".").parent_path();
    auto const normal = whole.lexically_normal();
    names.push_back((normal.has_filename() ? normal : normal.parent_path()).filename().string());
  }
  bool const differ = std::set(names.begin(), names.end()).size() == names.size();
  if (differ) return names;
  names.clear();
  for (auto const& directory : directories) names.push_back(directory.string());
  return names;
}

PageJson page_data(PageParts const& parts) {
  auto const names = run_names(parts.directories);
  auto runs = PageJson::array();
  for (std::size_t i = 0; i < names.size(); ++i)
    runs.push_back(run_json(parts.directories[i], parts.rok, names[i]));
  return {{"spillway_report", kForm},
          {"version", fmt::format("{} ({})", build::version, build::git_hash)},
          {"made", utc_text(std::time(nullptr))},
          {"runs", std::move(runs)}};
}

std::string html_escaped(std::string_view text) {
  std::string result;
  for (char const c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string page_html(PageJson const& data) {
  auto html = std::string(kHead) + std::string(kPageHtml);
  // Each mark is the first of its kind: texts of runs, which may look like marks, come behind them.
  fill(html, "style", kPageStyle);
  fill(html, "script", script_of_page());
  fill(html, "data", script_text(data));
  fill(html, "title", html_escaped(title_of(data)));
  return html;
}

bool is_report_page(std::string_view beginning) {
  return beginning.starts_with(kHead);
}

}  // namespace spillway
