// What debug.log_samples writes.
#include "samples/sample_log.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "samples/batches.hpp"
#include "tests/unit/samples/token_texts.hpp"

namespace spillway::sample_log_test {
namespace {

class SampleLogs : public test::TokenTexts {
 protected:
  std::string text_in(std::string const& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(SampleLogs, have_a_line_for_each_sample_of_a_step_that_counts) {
  {
    SampleLog log(m_dir, 2);
    log.add({10, 20, 30});
    log.begin_step();
    log.add({11, 21, 31});
    log.add({12, 22, 32});
    log.commit_step(5);
    log.add({13, 23, 33});
    log.commit_step(6);
  }
  SampleLog next_job(m_dir, 2);
  next_job.add({14, 24, 34});
  next_job.commit_step(7);
  EXPECT_EQ(text_in("samples-2.txt"), "5 11 21 31\n5 12 22 32\n6 13 23 33\n7 14 24 34\n");
}

TEST_F(SampleLogs, that_cannot_be_written_end_the_run) {
  SampleLog log(m_dir / "none", 0);
  try {
    log.commit_step(1);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::storage);
    EXPECT_EQ(error.what(), path("none/samples-0.txt") + ": cannot be written (debug.log_samples)");
  }
}

// They are not equally long, so that a number would not tell where they are.
TEST_F(SampleLogs, name_packed_spans_by_their_first_token) {
  std::vector<std::int64_t> starts;
  for (std::int64_t start = 0; start < 300; start += 7) starts.push_back(start);
  Recipe const recipe{.objective = Objective::spans,
                      .pack = true,
                      .lengths = {20, 12},
                      .window = span_window(20, 12),
                      .words = 300,
                      .ids = {.pad = 310, .first_sentinel = 309}};
  TokenSet tokens("data.train", std::vector{write("a", 300, 320, starts)});
  TextWindows windows(tokens, recipe);
  SampledText const text{std::move(tokens), std::move(windows)};
  DataOrder const order(text.windows.count(), 3);
  SampleLog log(m_dir, 0);
  TrainBatches batches({{text, order}}, recipe, {3, 3, 0, 1}, &log);
  batches.start_at(4, 12);
  std::array<std::int32_t, 60> encoder{};
  BatchBuffers const to({{BatchField::tokens, 0, std::as_writable_bytes(std::span(encoder))}});
  batches.load(5, 0, to);
  log.commit_step(5);
  std::string expected;
  std::vector<std::int64_t> scratch;
  for (std::int64_t sample = 15; sample < 18; ++sample) {
    auto const [epoch, window] = order.sample(sample);
    expected += "5 " + std::to_string(sample) + " " +
                std::to_string(text.windows.at(text.tokens, window, scratch).first) + " " +
                std::to_string(epoch) + "\n";
  }
  EXPECT_EQ(text_in("samples-0.txt"), expected);
}

}  // namespace
}  // namespace spillway::sample_log_test
