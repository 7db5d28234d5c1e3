// `spillway report`: a page of runs that were really trained, in the form that docs/report.md
// promises, and in a browser where there is one.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tests/parity/experiment.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::report_command_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string text_of(fs::path const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Json data_in(fs::path const& page) {
  auto const html = text_of(page);
  std::string const begin = "id=\"spillway-data\">";
  auto const first = html.find(begin) + begin.size();
  return Json::parse(html.substr(first, html.find("</script>", first) - first));
}

Outcome report(std::string const& arguments) {
  return run_command(spillway_command(0) + " report " + arguments);
}

// A run with all that a page can show: spilled bytes, a resume that does steps again, a trace, a
// curve.
class Report : public testing::Test {
 protected:
  static Experiment const& experiment() {
    static Experiment const made("report_command", 2, {"plan.activations=[nvme,recompute,keep]"});
    return made;
  }
  static fs::path const& run() {
    static auto const directory = [] {
      auto const first = experiment().run("stopped", {});
      auto const again = experiment().resume("run", first, 3);
      auto const now = text_of(again.dir / "metrics.jsonl");
      std::ofstream(again.dir / "metrics.jsonl") << text_of(first.dir / "metrics.jsonl") << now;
      return again.dir;
    }();
    return directory;
  }
  static fs::path copy(std::string const& name) {
    auto const to = run().parent_path() / name;
    fs::remove_all(to);
    fs::create_directory(to);
    for (auto const& file : fs::directory_iterator(run()))
      if (file.is_regular_file() && file.path().extension() != ".html")
        fs::copy_file(file.path(), to / file.path().filename());
    return to;
  }
};

// Adds the paths of all values, as the documentation writes them: "runs[].rows.step[]".
void add_paths(Json const& json, std::string const& path, std::set<std::string>& paths) {
  if (json.is_object() && !json.empty()) {
    for (auto const& [key, value] : json.items())
      add_paths(value, path.empty() ? key : path + "." + key, paths);
  } else if (json.is_array()) {
    if (json.empty()) paths.insert(path + "[]");
    for (auto const& value : json) add_paths(value, path + "[]", paths);
  } else {
    paths.insert(path);
  }
}

struct Promise {
  std::string field;
  bool may_miss = false;
  std::regex pattern;
};

// Reads the rows of the tables below a heading of docs/report.md.
std::vector<Promise> promises(std::string const& heading) {
  std::ifstream page(SPILLWAY_SOURCE_DIR "/docs/report.md");
  std::vector<Promise> result;
  std::string section;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    std::smatch found;
    if (section != heading || !std::regex_match(line, found, std::regex("\\| `(.*?)` \\| (.*)\\|")))
      continue;
    auto pattern = std::regex_replace(found[1].str(), std::regex(R"([\[\].])"), R"(\$&)");
    pattern = std::regex_replace(pattern, std::regex("<[a-z]+>"), "[^.\\[]+");
    pattern = std::regex_replace(pattern, std::regex("\\\\\\.…"), "[.\\[].+");
    result.push_back({found[1], found[2].str().starts_with("†"), std::regex(pattern)});
  }
  return result;
}

void expect_as_promised(Json const& json, std::string const& heading) {
  std::set<std::string> paths;
  add_paths(json, "", paths);
  auto const fields = promises(heading);
  ASSERT_GT(fields.size(), 10u) << heading;
  for (auto const& path : paths) {
    bool const known = std::ranges::any_of(fields, [&](Promise const& field) {
      bool const is_empty_list = path.ends_with("[]") && field.field.starts_with(path + ".");
      return is_empty_list || std::regex_match(path, field.pattern);
    });
    EXPECT_TRUE(known) << path << " is not in docs/report.md";
  }
  for (auto const& field : fields) {
    bool const there = std::ranges::any_of(paths, [&](std::string const& path) {
      return std::regex_match(path, field.pattern) || path.starts_with(field.field + ".");
    });
    EXPECT_TRUE(there || field.may_miss) << field.field << " is promised in docs/report.md";
  }
}

TEST_F(Report, is_a_page_in_the_run_directory_with_what_the_documents_promise) {
  auto const outcome = report(run().string());
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("run/report.html: "), std::string::npos) << outcome.output;
  auto const data = data_in(run() / "report.html");
  expect_as_promised(data, "The data in the page");
  expect_as_promised(Json::parse(text_of(run() / "plan.json")), "plan.json");
  EXPECT_LT(fs::file_size(run() / "report.html"), 300'000u);
}

TEST_F(Report, tells_what_the_run_itself_has_written) {
  auto const directory = copy("told");
  std::ofstream(directory / "rok.csv") << "policy,micro,step_s,fits\nkeep,1,0.5,yes\n";
  ASSERT_EQ(report(directory.string()).status, 0);
  auto const one = data_in(directory / "report.html").at("runs").at(0);
  auto const rows = read_metrics(directory), events = read_events(directory);
  EXPECT_EQ(one.at("name"), "told");
  EXPECT_EQ(one.at("rows").at("step"), Json({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(one.at("rows").at("loss").back(), rows.back().at("loss"));
  EXPECT_EQ(one.at("figures").at("steps"), 6);
  EXPECT_EQ(one.at("figures").at("done_again"), 3);
  EXPECT_EQ(one.at("figures").at("jobs"), 2);
  EXPECT_EQ(one.at("figures").at("ranks"), 2);
  EXPECT_GT(one.at("figures").at("written_bytes"), 0);
  EXPECT_EQ(one.at("events").size(), events.size());
  EXPECT_EQ(one.at("summary").at("ops"), read_summary(directory).at("ops"));
  EXPECT_EQ(one.at("plans").size(), 1u);
  EXPECT_EQ(one.at("rok").size(), 1u);
  EXPECT_TRUE(one.at("notes").empty()) << one.at("notes");
  for (auto const* tier : {"device", "nvme"})
    EXPECT_EQ(one.at("plan").at("memory").at(tier).at("peak_bytes"),
              read_summary(directory).at("predicted_peak_bytes").at(tier))
        << tier;
}

TEST_F(Report, leaves_out_what_the_job_before_has_summed_up) {
  auto const directory = copy("resumed");
  std::ofstream(directory / "metrics.jsonl", std::ios::app)
      << R"({"event":"resume","step":6,"time":"2999-01-31T09:05:00Z"})"
      << "\n";
  ASSERT_EQ(report(directory.string()).status, 0);
  auto const one = data_in(directory / "report.html").at("runs").at(0);
  EXPECT_FALSE(one.at("figures").contains("exit"));
  EXPECT_EQ(one.at("figures").at("steps"), 6);
  EXPECT_FALSE(one.at("notes").empty());
}

TEST_F(Report, of_several_runs_wants_a_name_and_has_them_all) {
  auto const other = copy("other").string(), page = (run().parent_path() / "both.html").string();
  auto const refused = report(run().string() + " " + other);
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.output.find("give it a name, as -o page.html"), std::string::npos);
  ASSERT_EQ(report(run().string() + " " + other + " -o " + page).status, 0);
  auto const runs = data_in(page).at("runs");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].at("name"), "run");
  EXPECT_EQ(runs[1].at("name"), "other");
}

TEST_F(Report, replaces_only_pages) {
  auto const directory = copy("replaced");
  auto const page = directory / "report.html";
  std::ofstream(page) << "notes of mine\n";
  auto const refused = report(directory.string());
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.output.find("is there and is not a report of this program"), std::string::npos);
  EXPECT_EQ(text_of(page), "notes of mine\n");
  EXPECT_EQ(report(directory.string() + " --force").status, 0);
  EXPECT_EQ(report(directory.string()).status, 0) << "its own page";
  auto const input = (directory / "metrics.jsonl").string();
  EXPECT_EQ(report(directory.string() + " --force -o " + input).status, 2);
}

TEST_F(Report, of_a_run_that_was_killed_is_a_page_too) {
  auto const directory = copy("killed");
  for (auto const* name : {"summary.json", "plan.json", "environment.json"})
    fs::remove(directory / name);
  auto const whole = text_of(directory / "metrics.jsonl");
  std::ofstream(directory / "metrics.jsonl") << whole.substr(0, whole.size() - 100);
  ASSERT_EQ(report(directory.string()).status, 0);
  auto const one = data_in(directory / "report.html").at("runs").at(0);
  EXPECT_EQ(one.at("notes").size(), 2u) << one.at("notes") << ": its last row never was whole";
  EXPECT_EQ(one.at("figures").at("steps"), 5);
}

TEST_F(Report, of_what_is_no_run_ends_in_one_line) {
  auto const empty = run().parent_path() / "nothing";
  fs::create_directory(empty);
  for (auto const& path : {empty.string(), empty.string() + "/none"}) {
    auto const outcome = report(path);
    EXPECT_EQ(outcome.status, 2) << path;
    EXPECT_EQ(outcome.lines().size(), 1u) << outcome.output;
    EXPECT_TRUE(outcome.output.starts_with("spillway: " + path + ": is no"));
  }
  EXPECT_TRUE(names_in(empty).empty());
}

// The script says in attributes of the page how many charts it has drawn, and what went wrong.
TEST_F(Report, is_drawn_by_a_browser_without_an_error) {
  if (!tool_exists("chromium")) GTEST_SKIP() << "no chromium";
  auto const bare = copy("bare");
  for (auto const* name : {"summary.json", "plan.json", "metrics.jsonl", "plan.yaml"})
    fs::remove(bare / name);
  auto const page = (run().parent_path() / "drawn.html").string();
  auto const dump = [&](std::string const& runs) {
    EXPECT_EQ(report(runs + " -o " + page).status, 0);
    return run_command("chromium --headless --no-sandbox --disable-gpu --dump-dom file://" + page +
                       " 2>/dev/null")
        .output;
  };
  auto const dom = dump(run().string() + " " + copy("beside").string());
  EXPECT_EQ(dom.find("data-error"), std::string::npos) << dom.substr(0, 300);
  // Four curves, the plan, two tiers, lanes, and bars of ops, ranks and lanes.
  EXPECT_NE(dom.find("data-drawn=\"11\""), std::string::npos) << dom.substr(0, 300);
  for (auto const* text :
       {"Who holds the peak of device memory", "resume after step 3", "3 done again", "rank 1"})
    EXPECT_NE(dom.find(text), std::string::npos) << text;
  auto const curve = copy("curve");
  std::ofstream(curve / "rok.csv")
      << "policy,micro,peak_device_bytes,step_s,least_step_s,most_step_s,tokens_per_s\n"
         "auto,1,500,2,1,3,64\nauto,1,900,1.5,1,3,90\nauto,2,900,3,3,3,90\nkeep,2,950,3,3,3,90\n";
  auto const curves = dump(curve.string());
  EXPECT_EQ(curves.find("data-error"), std::string::npos) << curves.substr(0, 300);
  constexpr auto line = "class=\"curve planned\"";
  auto const first = curves.find(line), last = curves.rfind(line);
  EXPECT_NE(first, last) << "each size of micro-batches has a line of its own";
  EXPECT_EQ(curves.find(line, first + 1), last);
  auto const without = dump(bare.string());
  EXPECT_EQ(without.find("data-error"), std::string::npos) << without.substr(0, 300);
  EXPECT_NE(without.find("No step has been logged yet"), std::string::npos);
}

}  // namespace
}  // namespace spillway::test::report_command_test
