// trace.json grows step by step and job by job, whatever happens to it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "plan/compile/compile.hpp"
#include "plan/data/open_plan.hpp"
#include "plan/proof/unroll.hpp"
#include "report/step_tracer.hpp"
#include "report/trace_file.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/support/trace_rules.hpp"

namespace spillway::trace_files_test {
namespace {

using namespace test;

class TraceFiles : public ::testing::Test {
 protected:
  TraceFiles() {
    std::filesystem::remove_all(m_dir);
    std::filesystem::create_directories(m_dir);
  }
  ~TraceFiles() override { std::filesystem::remove_all(m_dir); }

  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(m_path).rdbuf();
    return text.str();
  }
  void write(std::string const& text) const { std::ofstream(m_path) << text; }
  void append_step(std::vector<std::string> const& events) {
    TraceFile file(m_path);
    file.begin_step();
    for (auto const& event : events) file.append(event);
    file.end_step();
  }

  std::filesystem::path const m_dir = std::filesystem::path(testing::TempDir()) / "trace_files";
  std::filesystem::path const m_path = m_dir / "trace.json";
};

TEST_F(TraceFiles, are_a_list_after_every_step) {
  append_step({R"({"ts":1.0})", R"({"ts":2.0,"dur":0.5})"});
  EXPECT_EQ(text(), "[\n{\"ts\":1.0},\n{\"ts\":2.0,\"dur\":0.5}\n]\n");
  append_step({R"({"ts":3.0,"id":4})"});
  EXPECT_EQ(text(), "[\n{\"ts\":1.0},\n{\"ts\":2.0,\"dur\":0.5},\n{\"ts\":3.0,\"id\":4}\n]\n");
  TraceFile const file(m_path);
  EXPECT_EQ(file.reach().end_ns, 3000);
  EXPECT_EQ(file.reach().flows, 4);
}

// Wherever a kill cuts it, what a step adds stands behind the last whole event.
TEST_F(TraceFiles, go_on_wherever_a_kill_has_cut_them) {
  append_step({R"({"ts":1.0})", R"({"ts":2.0})"});
  auto const whole = text();
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    write(whole.substr(0, bytes));
    append_step({R"({"ts":3.0})"});
    auto const events = trace_in(text());
    ASSERT_FALSE(events.empty()) << bytes;
    EXPECT_EQ(events.back().at("ts"), 3);
    auto const first = whole.find("},") + 1, second = whole.rfind('}') + 1;
    EXPECT_EQ(events.size(), bytes < first ? 1u : bytes < second ? 2u : 3u) << bytes;
  }
}

TEST_F(TraceFiles, longer_than_what_waits_for_a_write_are_whole) {
  std::vector<std::string> const events(20'000,
                                        R"({"name":"a name that takes its bytes","ts":1.0})");
  append_step(events);
  EXPECT_EQ(trace_in(text()).size(), events.size());
  append_step(events);
  EXPECT_EQ(trace_in(text()).size(), 2 * events.size());
}

TEST_F(TraceFiles, of_others_are_refused) {
  write("{\"loss\":1}\n");
  EXPECT_EQ(refused_with([&] { TraceFile file(m_path); }),
            m_path.string() + ": is no trace of a run; move it away (run.trace)");
  std::filesystem::remove(m_path);
  std::filesystem::create_directory(m_path);
  EXPECT_TRUE(refused_with([&] {
                TraceFile file(m_path);
              }).starts_with(m_path.string() + ": cannot be written: "));
}

TEST_F(TraceFiles, that_are_removed_begin_anew) {
  TraceFile file(m_path);
  for (int step = 0; step < 2; ++step) {
    file.begin_step();
    file.append(R"({"ts":1.0})");
    file.end_step();
    EXPECT_EQ(trace_in(text()).size(), 1u);
    std::filesystem::remove(m_path);
  }
}

TEST_F(TraceFiles, that_are_moved_away_stay_as_they_are) {
  TraceFile file(m_path);
  file.begin_step();
  file.append(R"({"ts":1.0})");
  file.end_step();
  auto const before = text();
  std::filesystem::rename(m_path, m_dir / "kept.json");
  write("notes\n");
  testing::internal::CaptureStderr();
  file.begin_step();
  file.append(R"({"ts":2.0})");
  file.end_step();
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(text(), "notes\n");
  std::filesystem::rename(m_dir / "kept.json", m_path);
  EXPECT_EQ(text(), before);
}

// A full device takes nothing.
TEST_F(TraceFiles, that_cannot_be_written_are_said_once_a_step) {
  TraceFile file(m_path);
  std::filesystem::remove(m_path);
  std::filesystem::create_directory(m_path);
  CapturedLog log;
  file.begin_step();
  for (int i = 0; i < 10'000; ++i) file.append(R"({"ts":1.0,"name":"what nobody can keep"})");
  file.end_step();
  auto const said = log.taken();
  EXPECT_TRUE(said.starts_with("warning: " + m_path.string() + ": cannot be written: ")) << said;
  EXPECT_TRUE(said.ends_with("training goes on without this step in it\n")) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

class Tracing : public TraceFiles {
 protected:
  Tracing() {
    auto const graph = gpt_training_graph(
        {.layers = 2, .hidden = 64, .heads = 2, .vocab = 300, .sequence = 64, .micro = 1});
    auto const plan = make_plan(graph, PlanWords{.activations = {"keep"}}, BlockPolicy::keep);
    m_program = compile(graph, nullptr, plan, 2, 1).train;
    m_simulation = simulate(m_program, small_machine());
    m_times = predicted_times(m_program, m_simulation).items;
  }

  void take(StepTracer& tracer, std::int64_t step) {
    tracer.take({step - 1, SteadyClock::now(), 1, CommitWord::non_finite, m_times});
  }

  Program m_program;
  Simulation m_simulation;
  std::vector<ItemTime> m_times;
};

TEST_F(Tracing, writes_the_steps_that_were_chosen) {
  {
    StepTracer tracer(m_path, {2, 5});
    tracer.follow(m_program, m_simulation);
    for (std::int64_t step = 1; step <= 6; ++step) take(tracer, step);
  }
  auto const events = trace_in(text());
  expect_trace_rules(events);
  std::vector<std::string> names;
  for (auto const& step : track_in(events, kMeasuredProcess, kStepTrack)) {
    names.push_back(step.at("name"));
    EXPECT_EQ(step.at("args").at("word"), "non_finite");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"step 2", "step 5"}));
}

TEST_F(Tracing, goes_on_behind_what_an_earlier_job_has_written) {
  for (int job = 0; job < 2; ++job) {
    StepTracer tracer(m_path, {2});
    tracer.follow(m_program, m_simulation);
    take(tracer, 2);
  }
  auto const events = trace_in(text());
  expect_trace_rules(events);
  EXPECT_EQ(track_in(events, kMeasuredProcess, kStepTrack).size(), 2u);
}

TEST_F(Tracing, follows_another_plan_when_all_of_the_first_is_written) {
  {
    StepTracer tracer(m_path, {1, 2});
    {
      auto const first = m_program;
      tracer.follow(first, m_simulation);
      take(tracer, 1);
      tracer.settle();
      EXPECT_EQ(tracks_of(trace_in(text())).at({kMeasuredProcess, kStepTrack}).size(), 1u);
    }
    tracer.follow(m_program, m_simulation);
    take(tracer, 2);
  }
  auto const events = trace_in(text());
  expect_trace_rules(events);
  EXPECT_EQ(track_in(events, kMeasuredProcess, kStepTrack).size(), 2u);
}

}  // namespace
}  // namespace spillway::trace_files_test
