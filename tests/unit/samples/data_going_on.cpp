// A run that goes on from a checkpoint of other data.
#include <gtest/gtest.h>

#include "samples/data.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/samples/token_texts.hpp"

namespace spillway::data_going_on_test {
namespace {

using Lines = std::vector<std::string>;
using Starts = std::vector<std::int64_t>;

class GoingOn : public test::TokenTexts {
 protected:
  Config config_of(std::vector<std::string> const& train, std::uint64_t seed) const {
    Config config;
    config.data.train = train;
    config.data.sequence = 5;
    config.run.seed = seed;
    return config;
  }

  std::string m_a = write("a", 61, 100), m_b = write("b", 33, 100);  // 12 and 6 windows
};

void expect_order(DataOrder const& order, DataOrder const& expected, std::int64_t first) {
  ASSERT_EQ(order.windows(), expected.windows());
  for (auto sample = first; sample < first + 40; ++sample) {
    EXPECT_EQ(order.sample(sample).window, expected.sample(sample).window) << sample;
    EXPECT_EQ(order.sample(sample).epoch, expected.sample(sample).epoch) << sample;
  }
}

TEST_F(GoingOn, completes_the_epoch_by_the_old_files_then_by_the_new_ones) {
  RunState state;
  state.samples = 7;
  state.data = to_json(open_data(config_of({m_a}, 7)).samples);
  auto const config = config_of({m_b, m_a}, 9);
  auto data = open_data(config);
  EXPECT_EQ(go_on(data, config, state, "run/checkpoint"),
            (Lines{"data.train: " + m_b + " (33 tokens) is new; run.seed: 7 -> 9",
                   "the epoch under way is completed first, no text twice, and the data as they "
                   "are now begin after sample 18; data.changed=anew begins with them at once"}));
  auto const texts = data.texts();
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].text.tokens.count(), 61);
  EXPECT_EQ(texts[0].end, 12);
  EXPECT_EQ(texts[0].starts, Starts{33});
  expect_order(texts[0].order, {12, 7, {0, 0}}, 0);
  EXPECT_EQ(texts[1].text.tokens.count(), 33);
  EXPECT_EQ(texts[1].end, 18);
  EXPECT_EQ(texts[1].starts, Starts{0});
  expect_order(texts[1].order, {6, 9, {12, 0}}, 12);
  EXPECT_EQ(texts[2].text.tokens.count(), 94);
  EXPECT_EQ(texts[2].starts, Starts{});
  expect_order(texts[2].order, {18, 9, {18, 1}}, 18);

  // What lies behind the sample is not opened again.
  state.samples = 12;
  state.data = to_json(data.samples);
  auto later = open_data(config);
  EXPECT_EQ(go_on(later, config, state, "run/checkpoint"), Lines{});
  ASSERT_EQ(later.texts().size(), 2u);
  EXPECT_EQ(later.texts()[0].end, 18);
}

// The seal says what was written, not that it makes sense.
TEST_F(GoingOn, of_an_order_whose_epoch_has_a_file_of_its_own_is_refused) {
  auto const config = config_of({m_b, m_a}, 9);
  RunState state;
  state.samples = 7;
  state.data = to_json(open_data(config_of({m_a}, 7)).samples);
  auto data = open_data(config);
  go_on(data, config, state, "run/checkpoint");
  auto order = data.samples;
  order.ranges[0].files[0].fingerprint = "another";
  state.data = to_json(order);
  auto again = open_data(config);
  EXPECT_EQ(
      test::refused_with([&] { go_on(again, config, state, "run/checkpoint"); }, Status::damaged),
      "run/checkpoint: /run: `data` names " + m_a +
          " for the epoch under way, but not among the files of those behind it");
}

TEST_F(GoingOn, of_the_same_data_changes_nothing) {
  auto const config = config_of({m_a, m_b}, 7);
  RunState state;
  state.samples = 25;
  state.data = to_json(open_data(config).samples);
  auto data = open_data(config);
  EXPECT_EQ(go_on(data, config, state, "run/checkpoint"), Lines{});
  ASSERT_EQ(data.texts().size(), 1u);
  expect_order(data.order, {18, 7}, 0);
}

TEST_F(GoingOn, of_an_earlier_versions_run_takes_the_data_for_its_own) {
  RunState state;
  state.samples = 8;
  state.seed = 3;
  auto const config = config_of({m_a}, 7);
  auto data = open_data(config);
  EXPECT_EQ(
      go_on(data, config, state, "run/checkpoint"),
      (Lines{"run.seed: 3 -> 7",
             "the epoch under way is completed first, no text twice, and the data as they are now "
             "begin after sample 12; data.changed=anew begins with them at once",
             "run/checkpoint does not say which data it has seen, as it is of an earlier version; "
             "data.train is taken for them"}));
  ASSERT_EQ(data.texts().size(), 2u);
  expect_order(data.texts()[0].order, {12, 3, {0, 0}}, 8);
  expect_order(data.order, {12, 7, {12, 1}}, 12);
}

// That version took no text without a whole window, and packed spans into windows of one length.
TEST_F(GoingOn, of_an_earlier_versions_run_on_a_short_text_counts_one_window) {
  RunState state;
  state.samples = 8;
  state.seed = 7;
  auto config = config_of({m_b}, 7);
  config.model.family = Family::t5;
  config.data.pack = true;
  config.data.sequence = 64, config.data.target_length = 40;
  auto data = open_data(config);
  ASSERT_GT(data.recipe.window, 33);
  auto const said = go_on(data, config, state, "run/checkpoint");
  ASSERT_EQ(said.size(), 3u);
  EXPECT_TRUE(said[0].starts_with("data.pack: windows of 32 tokens -> windows of up to "))
      << said[0];
  EXPECT_EQ(said[1], "the data as they are now begin an epoch here, after sample 8");
  ASSERT_EQ(data.texts().size(), 1u);
  auto const first = data.order.sample(8);
  EXPECT_EQ(first.epoch, 8);
  EXPECT_EQ(first.window, 0);
}

TEST_F(GoingOn, begins_anew_where_that_is_asked_for) {
  RunState state;
  state.samples = 7;
  state.data = to_json(open_data(config_of({m_a}, 7)).samples);
  auto config = config_of({m_b}, 7);
  config.data.changed = ChangedData::anew;
  auto data = open_data(config);
  EXPECT_EQ(go_on(data, config, state, "run/checkpoint").size(), 2u);
  ASSERT_EQ(data.texts().size(), 1u);
  expect_order(data.order, {6, 7, {7, 1}}, 7);
}

}  // namespace
}  // namespace spillway::data_going_on_test
