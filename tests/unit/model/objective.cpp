#include "model/objective.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <tuple>

#include "base/error.hpp"
#include "model/model.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::objective_test {
namespace {

DataConfig with_lengths(std::int64_t sequence, std::optional<std::int64_t> target) {
  DataConfig data;
  data.sequence = sequence;
  data.target_length = target;
  return data;
}

// The published recipe: 568 tokens make inputs of 512 and targets of 114.
TEST(SpanLengths, are_t5s) {
  EXPECT_EQ(span_window(512, 1'000'000), 568);
  EXPECT_EQ(span_window(512, 114), 568);
  EXPECT_EQ(span_window(1024, 1'000'000), 1137);
  EXPECT_EQ(span_counts(568).noise, 85);
  EXPECT_EQ(span_counts(568).spans, 28);
  EXPECT_EQ(stack_lengths(with_lengths(512, {}), Objective::spans),
            (std::vector<std::int64_t>{512, 114}));
}

TEST(SpanLengths, fill_the_rows_and_none_more) {
  auto const fits = [](std::int64_t tokens, std::int64_t inputs, std::int64_t targets) {
    auto const [noise, spans] = span_counts(tokens);
    return tokens - noise + spans + 1 <= inputs && noise + spans + 1 <= targets;
  };
  for (std::int64_t inputs = 3; inputs < 400; inputs += 7) {
    for (std::int64_t targets = 3; targets < 150; ++targets) {
      auto const tokens = span_window(inputs, targets);
      ASSERT_GE(tokens, 2);
      EXPECT_TRUE(fits(tokens, inputs, targets)) << inputs << " " << targets;
      EXPECT_FALSE(fits(tokens + 1, inputs, targets)) << inputs << " " << targets;
    }
  }
  EXPECT_EQ(span_window(2, 100), 0);
  EXPECT_EQ(span_window(100, 2), 0);
  EXPECT_EQ(span_window(-5, 3), 0);
}

TEST(SpanLengths, leave_a_token_between_spans_and_one_in_each) {
  for (std::int64_t tokens = 2; tokens < 10'000; ++tokens) {
    auto const [noise, spans] = span_counts(tokens);
    EXPECT_GE(spans, 1);
    EXPECT_GE(noise, spans) << tokens;
    EXPECT_GE(tokens - noise, spans) << tokens;
  }
}

TEST(StackLengths, of_other_objectives_are_the_sequence) {
  for (auto const objective : {Objective::next, Objective::masked})
    EXPECT_EQ(stack_lengths(with_lengths(77, {}), objective), (std::vector<std::int64_t>{77}));
}

TEST(StackLengths, refuse_what_has_no_place_by_the_key) {
  auto const spans = [](std::int64_t sequence, std::optional<std::int64_t> target) {
    return test::refused_with(
        [&] { stack_lengths(with_lengths(sequence, target), Objective::spans); });
  };
  EXPECT_EQ(spans(64, 2),
            "data.target: no span fits 64 rows of the encoder and 2 of the decoder; both need at "
            "least 3");
  EXPECT_EQ(spans(2, 64),
            "data.sequence: no span fits 2 rows of the encoder and 64 of the decoder; both need at "
            "least 3");
  EXPECT_TRUE(spans(2, {}).starts_with("data.sequence: no span fits 2 rows of")) << spans(2, {});
  EXPECT_EQ(spans(3, 3), "");
  EXPECT_EQ(test::refused_with([] { stack_lengths(with_lengths(64, 8), Objective::masked); }),
            "data.target: is of the objective spans; data.objective is masked here");
  DataConfig data;
  data.mask_id = 3;
  EXPECT_EQ(test::refused_with([&] { stack_lengths(data, Objective::next); }),
            "data.mask_id: is of the objective masked; data.objective is next here");
}

// Ids of tokens that the objective has not would be passed over.
TEST(StackLengths, refuse_ids_of_other_objectives) {
  auto const refusal = [](std::optional<std::int64_t> DataConfig::*id, Objective objective) {
    DataConfig data;
    data.*id = 5;
    return test::refused_with([&] { stack_lengths(data, objective); });
  };
  using enum Objective;
  for (auto const& [id, key] : {std::pair(&DataConfig::pad_id, "data.pad_id"),
                                std::pair(&DataConfig::sentinel_id, "data.sentinel_id")}) {
    EXPECT_EQ(refusal(id, masked),
              std::string(key) + ": is of the objective spans; data.objective is masked here");
    EXPECT_EQ(refusal(id, spans), "") << key;
  }
  EXPECT_EQ(refusal(&DataConfig::mask_id, spans),
            "data.mask_id: is of the objective masked; data.objective is spans here");
  EXPECT_EQ(refusal(&DataConfig::mask_id, masked), "");
  for (auto const objective : {next, masked, spans})
    EXPECT_EQ(refusal(&DataConfig::eos_id, objective), "");
}

TEST(ObjectiveOf, auto_is_what_each_family_is_trained_for) {
  for (auto const& [family, objective, other] :
       {std::tuple(Family::gpt, Objective::next, Objective::spans),
        std::tuple(Family::bert, Objective::masked, Objective::next),
        std::tuple(Family::t5, Objective::spans, Objective::masked),
        std::tuple(Family::llama, Objective::next, Objective::masked)}) {
    Config config;
    config.model.family = family;
    EXPECT_EQ(objective_of(config), objective) << word(family);
    config.data.objective = objective;
    EXPECT_EQ(objective_of(config), objective) << word(family);
    config.data.objective = other;
    EXPECT_EQ(test::refused_with([&] { objective_of(config); }),
              fmt::format("data.objective: {} is not for models of the family {}; give {} or auto",
                          word(other), word(family), word(objective)));
  }
}

TEST(ObjectiveOf, auto_is_the_familys_and_others_are_refused) {
  Config config;
  EXPECT_EQ(objective_of(config), Objective::next);
  config.data.objective = Objective::next;
  EXPECT_EQ(objective_of(config), Objective::next);
  config.data.objective = Objective::masked;
  auto const why = "data.objective: masked is not for models of the family gpt; give next or auto";
  EXPECT_EQ(test::refused_with([&] { objective_of(config); }), why);
  EXPECT_EQ(test::refused_with([&] { build_model(config, 300, {}, Purpose::train); }), why);
}

}  // namespace
}  // namespace spillway::objective_test
