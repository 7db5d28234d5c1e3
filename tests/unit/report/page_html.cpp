// The page as a text: what runs bring cannot leave the data, and directories that are not complete.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "report/page/page.hpp"
#include "report/page/run_files.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::page_html_test {
namespace {

namespace fs = std::filesystem;

class Page : public ::testing::Test {
 protected:
  Page() { fs::remove_all(m_root); }
  ~Page() override { fs::remove_all(m_root); }

  fs::path run(std::string const& name) const {
    auto const directory = m_root / name;
    fs::create_directories(directory);
    write(directory, "metrics.jsonl",
          "{\"event\":\"start\",\"step\":0,\"time\":\"2026-01-31T09:05:00Z\"}\n"
          "{\"step\":1,\"tokens\":64,\"loss\":5,\"step_s\":0.5,\"spilled_bytes\":100}\n"
          "{\"step\":2,\"tokens\":128,\"loss\":4,\"step_s\":1.5,\"spilled_bytes\":100}\n");
    return directory;
  }
  static void write(fs::path const& directory, std::string const& name, std::string const& text) {
    std::ofstream(directory / name) << text;
  }
  static PageJson first_run(fs::path const& directory) {
    return page_data({{directory}, {}}).at("runs").at(0);
  }
  static bool has_note(PageJson const& run, std::string const& words) {
    for (auto const& note : run.at("notes"))
      if (note.get<std::string>().find(words) != std::string::npos) return true;
    return false;
  }

  fs::path const m_root = fs::path(::testing::TempDir()) / "pages";
};

std::size_t count_of(std::string const& text, std::string const& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string data_in(std::string const& html) {
  std::string const begin = "id=\"spillway-data\">";
  auto const first = html.find(begin) + begin.size();
  return html.substr(first, html.find("</script>", first) - first);
}

TEST_F(Page, holds_its_data_whatever_the_names_and_texts_are) {
  auto const nasty = std::string("<b>{{data}} & 'x' \"y\" {{title}}");
  auto const directory = run(nasty);
  std::ofstream(directory / "metrics.jsonl", std::ios::app)
      << R"({"event":"replan","step":2,"why":"</script><script>alert(1)</script><!--"})" << '\n';
  auto const plain = page_html(page_data({{run("plain")}, {}}));
  auto const data = page_data({{directory}, {}});
  auto const html = page_html(data);
  for (auto const* tag : {"<script", "</script", "<!--", "<b>", "{{style}}", "{{script}}"})
    EXPECT_EQ(count_of(html, tag), count_of(plain, tag)) << tag;
  EXPECT_EQ(PageJson::parse(data_in(html)), data);
  EXPECT_EQ(data.at("runs")[0].at("name"), nasty);
  EXPECT_NE(html.find("<title>&lt;b&gt;{{data}} &amp; 'x' &quot;y&quot;"), std::string::npos);
}

TEST_F(Page, holds_bytes_that_are_no_text) {
  auto const directory = run("bytes");
  write(directory, "environment.json", "{\"devices\":\"cpu \\u2028\", \"hosts\":[\"h\xff\"]}");
  EXPECT_NO_THROW(PageJson::parse(data_in(page_html(page_data({{directory}, {}})))));
}

TEST_F(Page, fetches_nothing) {
  auto const html = page_html(page_data({{run("plain")}, {}}));
  for (auto const* word : {"src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest"})
    EXPECT_EQ(html.find(word), std::string::npos) << word;
  // The name of SVG's elements is no address that anybody goes to.
  EXPECT_EQ(count_of(html, "http"), count_of(html, "http://www.w3.org/2000/svg"));
  EXPECT_TRUE(is_report_page(html));
  EXPECT_FALSE(is_report_page("<!DOCTYPE html>\n<html>"));
}

TEST_F(Page, of_a_run_without_summary_and_plan_says_what_is_missing) {
  auto const data = first_run(run("bare"));
  for (auto const* words : {"no summary.json", "no plan.json"})
    EXPECT_TRUE(has_note(data, words)) << words << data.at("notes");
  auto const& figures = data.at("figures");
  EXPECT_EQ(figures.at("steps"), 2);
  EXPECT_EQ(figures.at("tokens"), 128);
  EXPECT_EQ(figures.at("duration_s"), 2);
  EXPECT_EQ(figures.at("loss_last"), 4);
  EXPECT_EQ(figures.at("jobs"), 1);
  EXPECT_EQ(figures.at("written_bytes"), 200);
  EXPECT_FALSE(figures.contains("valid_last"));
  EXPECT_FALSE(figures.contains("parameters"));
}

TEST_F(Page, leaves_out_files_that_are_damaged_and_says_so) {
  auto const directory = run("damaged");
  write(directory, "summary.json", "{\"ops\":");
  write(directory, "environment.json", "[]");
  write(directory, "config.yaml", "model: {layers: many}\n");
  write(directory, "plan.json", "{\"spillway_plan\":99}");
  write(directory, "trace.json", "[\n");
  write(directory, "plan.yaml", "\x01\x02");
  auto const data = first_run(directory);
  for (auto const* words :
       {"summary.json is damaged", "environment.json is damaged",
        "config.yaml:", "plan.json is of another version", "trace.json has no step"})
    EXPECT_TRUE(has_note(data, words)) << words << data.at("notes");
  EXPECT_TRUE(data.at("summary").is_null());
  EXPECT_TRUE(data.at("plan").is_null());
}

TEST_F(Page, takes_figures_of_the_wrong_kind_for_unknown) {
  auto const directory = run("wrong");
  write(directory, "environment.json", "{\"ranks\":\"two\",\"hosts\":7}");
  write(directory, "summary.json", "{\"spill\":3,\"tokens\":null}");
  EXPECT_NO_THROW(page_html(page_data({{directory}, {}})));
}

TEST_F(Page, believes_the_summary_and_multiplies_what_a_rank_wrote) {
  auto const directory = run("complete");
  write(directory, "environment.json", "{\"ranks\":2}");
  write(directory, "summary.json",
        "{\"tokens\":999,\"step\":7,\"measured_step_s\":3,\"exit\":0,"
        "\"spill\":{\"lifetime_years\":4}}");
  auto const figures = first_run(directory).at("figures");
  EXPECT_EQ(figures.at("tokens"), 999);
  EXPECT_EQ(figures.at("steps"), 7);
  EXPECT_EQ(figures.at("measured_step_s"), 3);
  EXPECT_EQ(figures.at("written_bytes"), 400);
  EXPECT_EQ(figures.at("written_bytes_per_step"), 200);
  EXPECT_EQ(figures.at("lifetime_years"), 4);
}

// A job that went on was killed, behind one that had a plan of its own.
TEST_F(Page, has_nothing_of_a_summary_that_an_earlier_job_has_left) {
  auto const directory = run("gone_on");
  std::ofstream(directory / "metrics.jsonl", std::ios::app)
      << R"({"event":"resume","step":1,"time":"2026-01-31T10:00:00Z","predicted_step_s":9})"
      << '\n';
  write(directory, "plan.json", R"({"spillway_plan":1,"parameters":77,"predicted_step_s":8})");
  write(directory, "summary.json", R"({"ended":"2026-01-31T09:59:59Z","exit":0,"tokens":999})");
  auto const run = first_run(directory);
  EXPECT_TRUE(run.at("summary").is_null());
  EXPECT_TRUE(has_note(run, "no summary.json of the last job"));
  auto const& figures = run.at("figures");
  EXPECT_EQ(figures.at("tokens"), 64);
  EXPECT_EQ(figures.at("parameters"), 77);
  EXPECT_EQ(figures.at("predicted_step_s"), 9) << "of the plan that began last";
  EXPECT_EQ(figures.at("done_again"), 1);
  EXPECT_EQ(run.at("events").at(1).at("done_again"), 1);
}

// Marks are drawn by the name of an event, and words made of its `why`.
TEST_F(Page, has_slow_ranks_as_events_with_a_mark_of_their_own) {
  auto const directory = run("slow");
  std::ofstream(directory / "metrics.jsonl", std::ios::app)
      << R"({"event":"slow-rank","step":2,"rank":1,"why":"rank 1: the others wait"})" << '\n'
      << R"({"event":"slow-rank-over","step":2,"rank":1,"why":"rank 1"})" << '\n';
  auto const events = first_run(directory).at("events");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].at("event"), "slow-rank");
  EXPECT_EQ(events[1].at("why"), "rank 1: the others wait");
  EXPECT_EQ(events[2].at("event"), "slow-rank-over");
  auto const html = page_html(page_data({{directory}, {}}));
  for (auto const* words : {"event.event.startsWith(\"slow-rank\")", ".event.slow-rank line",
                            "Starts, resumes, re-plans and slow ranks", "a slow rank (empty:"})
    EXPECT_EQ(count_of(html, words), 1u) << words;
}

TEST_F(Page, has_plans_in_the_order_of_their_steps) {
  auto const directory = run("replanned");
  for (auto const* name : {"plan-20.yaml", "plan.yaml", "plan-3.yaml", "plan-x.yaml"})
    write(directory, name, "activations:\n  - keep        # h.0\nprefetch: 1\n");
  auto const plans = first_run(directory).at("plans");
  ASSERT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans[0].at("file"), "plan.yaml");
  EXPECT_EQ(plans[1].at("step"), 3);
  EXPECT_EQ(plans[2].at("step"), 20);
}

TEST_F(Page, of_what_is_no_run_is_refused) {
  auto const refused = [](fs::path const& path) {
    return refused_with([&] { page_data({{path}, {}}); });
  };
  fs::create_directories(m_root / "empty");
  EXPECT_EQ(refused(m_root / "none"), (m_root / "none").string() + ": is not there");
  EXPECT_NE(refused(m_root / "empty").find("is no directory of a run"), std::string::npos);
  write(m_root / "empty", "lock", "4242\n");
  EXPECT_NE(refused(m_root / "empty").find("there is nothing but `lock` yet"), std::string::npos);
  EXPECT_NE(refused(run("a") / "metrics.jsonl").find("is no directory"), std::string::npos);
  auto const without = refused_with([&] { page_data({{run("a")}, m_root / "no.csv"}); });
  EXPECT_NE(without.find("no.csv"), std::string::npos);
}

TEST(RunNames, are_short_where_they_differ) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(run_names({"runs/a", "b/"}), (Names{"a", "b"}));
  EXPECT_EQ(run_names({"x/run", "y/run/"}), (Names{"x/run", "y/run/"}));
  EXPECT_EQ(run_names({"."}), Names{fs::current_path().filename().string()});
}

}  // namespace
}  // namespace spillway::test::page_html_test
