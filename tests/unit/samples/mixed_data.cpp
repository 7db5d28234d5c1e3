// Data that are mixed: how files become sources, what a run reads of them, and how it goes on.
#include <gtest/gtest.h>

#include "samples/data.hpp"
#include "samples/text_use.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/samples/token_texts.hpp"

namespace spillway::mixed_data_test {
namespace {

using Lines = std::vector<std::string>;

class MixedData : public test::TokenTexts {
 protected:
  Config config_of(Lines const& train, std::vector<double> const& weights) const {
    Config config;
    config.data.train = train;
    config.data.weights = weights;
    config.data.sequence = 5;
    config.run.seed = 7;
    return config;
  }
  static std::string refusal(Config const& config) {
    return test::refused_with([&] { open_data(config); });
  }

  std::string m_a = write("a", 63, 100), m_b = write("b", 34, 100);  // 12 and 6 windows
};

TEST_F(MixedData, share_no_window_and_come_by_their_weights) {
  auto const data = open_data(config_of({m_a, m_b}, {3, 1}));
  auto const& windows = data.train.windows;
  ASSERT_EQ(windows.parts(), 2u);
  EXPECT_EQ(windows.count_of(0), 12);
  EXPECT_EQ(windows.count_of(1), 6);
  std::vector<std::int64_t> scratch;
  EXPECT_EQ(windows.at(data.train.tokens, 11, scratch).first, 55);
  EXPECT_EQ(windows.at(data.train.tokens, 12, scratch).first, 63);
  EXPECT_EQ(windows.at(data.train.tokens, 17, scratch).first, 63 + 25);
  std::int64_t of_a = 0;
  for (std::int64_t sample = 0; sample < 400; ++sample)
    of_a += data.order.sample(sample).window < 12;
  EXPECT_EQ(of_a, 300);
  EXPECT_EQ(describe_unused(data.train, data.recipe, "data.train"),
            "data.train: 5 of 97 tokens, at the ends of what is mixed, do not fill a sequence and "
            "are not read");
}

// The last window of the first source is more or less full.
TEST_F(MixedData, of_spans_end_where_rows_are_full_and_where_a_source_does) {
  for (std::int64_t end = 52; end < 70; ++end) {
    auto const first = write("first", end, 100);
    auto config = config_of({first, m_b}, {1, 1});
    config.model.family = Family::t5;
    config.data.pack = true;
    config.data.sequence = 16;
    auto const data = open_data(config);
    auto const& windows = data.train.windows;
    std::vector<std::int64_t> scratch;
    for (std::int64_t window = 0; window < windows.count(); ++window) {
      auto const at = windows.at(data.train.tokens, window, scratch);
      EXPECT_EQ(at.first < end, window < windows.count_of(0)) << end << ": " << window;
      EXPECT_TRUE(at.first >= end || at.first + at.tokens <= end) << end << ": " << window;
    }
    config.data.train = {m_b};
    config.data.weights = {};
    EXPECT_EQ(windows.count_of(1), open_data(config).train.windows.count()) << end;
  }
}

// A run's evaluations are those of `eval`, which reads each text by itself.
TEST_F(MixedData, of_data_valid_share_no_window_and_have_draws_of_their_own) {
  auto config = config_of({m_b}, {});
  config.data.valid = {m_a, write("c", 33, 100)};
  auto const data = open_data(config);
  auto const texts = open_valid_texts(config, data.vocab, data.recipe);
  auto const& windows = data.valid->windows;
  ASSERT_EQ(windows.count(), texts[0].windows.count() + texts[1].windows.count());
  std::vector<std::int64_t> scratch;
  EXPECT_EQ(windows.at(data.valid->tokens, 12, scratch).first, texts[0].tokens.count());
  EXPECT_EQ(windows.number_in_part(11), 11);
  EXPECT_EQ(windows.number_in_part(12), 0);
  EXPECT_EQ(windows.number_in_part(17), 5);
}

TEST_F(MixedData, are_the_text_itself_where_there_is_one) {
  auto const mixed = open_data(config_of({m_a}, {3})), plain = open_data(config_of({m_a}, {}));
  EXPECT_EQ(to_json(mixed.samples), to_json(plain.samples));
  for (std::int64_t sample = 0; sample < 50; ++sample)
    EXPECT_EQ(mixed.order.sample(sample).window, plain.order.sample(sample).window);
}

TEST_F(MixedData, are_refused_by_the_name_of_what_cannot_be_mixed) {
  auto const small = write("small", 5, 100), other = write("other", 63, 101);
  EXPECT_EQ(refusal(config_of({m_a, small}, {1, 1})),
            "data.train: " + small + ": 5 tokens do not fill one sequence of 5 and its successor");
  EXPECT_EQ(refusal(config_of({m_a, other}, {1, 1})),
            "data.train: " + m_a + " has a vocabulary of 100, " + other + " one of 101");
  EXPECT_EQ(refusal(config_of({m_a, m_b}, {1, 1e-6})),
            "data.train: " + m_b +
                ": its weight 1e-06 is not one of 4096 sequences; give it a larger one, or leave "
                "it out");
  auto config = config_of({m_a, m_b}, {1, 1});
  config.data.valid = {m_b};
  EXPECT_EQ(refusal(config),
            "data.train: " + m_b +
                " is data.valid's too, and nothing else is left to train on; name other files, or "
                "data.valid=none");
}

TEST_F(MixedData, go_on_where_they_were_and_are_refused_where_they_changed) {
  auto const config = config_of({m_a, m_b}, {3, 1});
  RunState state;
  state.samples = 25;
  state.data = to_json(open_data(config).samples);
  auto same = open_data(config);
  EXPECT_EQ(go_on(same, config, state, "run/checkpoint"), Lines{});
  auto const fresh = open_data(config);
  for (std::int64_t sample = 25; sample < 90; ++sample)
    EXPECT_EQ(same.order.sample(sample).window, fresh.order.sample(sample).window);

  auto changed = config_of({m_a, m_b}, {1, 1});
  auto data = open_data(changed);
  EXPECT_EQ(test::refused_with([&] { go_on(data, changed, state, "run/checkpoint"); }),
            "data.train: its weights: 3 : 1 -> 1 : 1, and a mix has no epoch to be completed "
            "first; give back what the run began with, or data.changed=anew goes on with the data "
            "as they are now");
  changed.data.changed = ChangedData::anew;
  auto const said = go_on(data, changed, state, "run/checkpoint");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[1],
            "the data as they are now begin here, after sample 25; some text may come again, "
            "and some has not come");
  // Of 25 samples up to 21 may have been the first file's, which has 12 windows.
  EXPECT_EQ(data.order.sample(25).epoch, 2);
}

TEST_F(MixedData, may_follow_one_text_at_the_end_of_an_epoch) {
  auto const plain = config_of({m_a}, {}), mixed = config_of({m_a, m_b}, {1, 1});
  RunState state;
  state.data = to_json(open_data(plain).samples);
  state.samples = 24;
  auto data = open_data(mixed);
  EXPECT_EQ(go_on(data, mixed, state, "run/checkpoint").size(), 2u);
  state.samples = 25;
  auto within = open_data(mixed);
  EXPECT_NE(test::refused_with([&] {
              go_on(within, mixed, state, "run/checkpoint");
            }).find("its weights: one text -> 1 : 1"),
            std::string::npos);
}

}  // namespace
}  // namespace spillway::mixed_data_test
