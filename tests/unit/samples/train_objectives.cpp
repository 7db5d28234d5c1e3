#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "base/error.hpp"
#include "samples/objectives.hpp"
#include "samples/recipe.hpp"
#include "samples/sequence_buffer.hpp"

namespace spillway::train_objectives_test {
namespace {

template <class T>
std::vector<T> copy(std::span<T> values) {
  return {values.begin(), values.end()};
}

struct Sequence {
  std::vector<std::int32_t> tokens, documents, positions, types, targets;
  std::vector<float> weights;
  bool operator==(Sequence const&) const = default;
};

Sequence stack_of(BatchBuffers const& from, int stack) {
  return {
      copy(from.get<BatchField::tokens>(stack)),    copy(from.get<BatchField::documents>(stack)),
      copy(from.get<BatchField::positions>(stack)), copy(from.get<BatchField::token_types>(stack)),
      copy(from.get<BatchField::targets>(stack)),   copy(from.get<BatchField::weights>(stack))};
}

// The first stack of a sequence whose tokens are `tokens`.
Sequence make(Recipe const& recipe, std::vector<std::int32_t> const& tokens, std::int64_t sample,
              std::vector<std::int64_t> const& starts = {}) {
  SequenceBuffer buffer(recipe.lengths);
  make_sequence(recipe, {tokens, starts}, sample, buffer.fields());
  return stack_of(buffer.fields(), 0);
}

std::vector<std::int32_t> counted(std::int64_t size, std::int32_t words) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i) % words;
  return tokens;
}

Recipe masked(std::int64_t sequence) {
  return {.objective = Objective::masked,
          .lengths = {sequence},
          .window = sequence,
          .words = 50,
          .ids = {.mask = 50, .eos = 49},
          .seed = 5};
}

TEST(NextTokens, of_documents_kept_apart_end_with_them) {
  Recipe const recipe{.pack = true, .lengths = {8}, .window = 8};
  auto const made = make(recipe, counted(9, 100), 0, {3, 4, 8});
  EXPECT_EQ(made.tokens, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(made.targets, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(made.documents, (std::vector<std::int32_t>{0, 0, 0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(made.positions, (std::vector<std::int32_t>{0, 1, 2, 0, 0, 1, 2, 3}));
  EXPECT_EQ(made.weights, (std::vector<float>{1, 1, 0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(made.types, std::vector<std::int32_t>(8));
}

TEST(NextTokens, of_text_as_one_are_all_predicted) {
  auto const made = make({.lengths = {8}, .window = 8}, counted(9, 100), 0);
  EXPECT_EQ(made.weights, std::vector<float>(8, 1.0f));
  EXPECT_EQ(made.documents, std::vector<std::int32_t>(8));
  EXPECT_EQ(made.positions, counted(8, 100));
}

TEST(MaskedTokens, are_drawn_by_seed_and_sample_alone) {
  auto const tokens = counted(201, 49);
  auto recipe = masked(200);
  auto const first = make(recipe, tokens, 7);
  EXPECT_EQ(first, make(recipe, tokens, 7));
  EXPECT_NE(first.weights, make(recipe, tokens, 8).weights);
  EXPECT_NE(first.weights, make(recipe, tokens, (std::int64_t{1} << 40) + 7).weights);
  recipe.seed = 6;
  EXPECT_NE(first.weights, make(recipe, tokens, 7).weights);
}

// With 400,000 tokens, five standard deviations are these bounds.
TEST(MaskedTokens, are_as_many_as_published_and_replaced_as_published) {
  auto const tokens = counted(401, 49);
  std::map<std::string, double> seen;
  std::map<std::int32_t, int> random;
  for (std::int64_t sample = 0; sample < 1000; ++sample) {
    auto const made = make(masked(400), tokens, sample);
    for (std::size_t i = 0; i < 400; ++i) {
      ASSERT_EQ(made.targets[i], tokens[i]);
      bool const chosen = made.weights[i] == 1;
      if (!chosen) {
        ASSERT_EQ(made.weights[i], 0);
        ASSERT_EQ(made.tokens[i], tokens[i]);
      }
      seen["chosen"] += chosen;
      seen["mask"] += made.tokens[i] == 50;
      seen["same"] += chosen && made.tokens[i] == tokens[i];
      if (chosen && made.tokens[i] != 50 && made.tokens[i] != tokens[i]) ++random[made.tokens[i]];
    }
  }
  EXPECT_NEAR(seen["chosen"] / 400'000, 0.15, 0.0029);
  EXPECT_NEAR(seen["mask"] / seen["chosen"], 0.80, 0.0082);
  EXPECT_NEAR(seen["same"] / seen["chosen"], 0.10 + 0.10 / 50, 0.0062);
  ASSERT_EQ(std::ssize(random), 50);  // any word
  EXPECT_EQ(random.begin()->first, 0);
  for (auto const& [word, count] : random) EXPECT_NEAR(count, 6000 / 50, 55) << word;
}

TEST(MaskedTokens, are_no_special_ones) {
  auto tokens = counted(401, 49);
  for (std::size_t i = 0; i < 400; i += 2) tokens[i] = i % 4 == 0 ? 49 : 50;
  for (std::int64_t sample = 0; sample < 50; ++sample) {
    auto const made = make(masked(400), tokens, sample);
    for (std::size_t i = 0; i < 400; i += 2) {
      EXPECT_EQ(made.weights[i], 0);
      EXPECT_EQ(made.tokens[i], tokens[i]);
    }
  }
}

TEST(MaskedTokens, know_documents_too) {
  auto const made = make(masked(6), counted(7, 49), 0, {2, 6});
  EXPECT_EQ(made.documents, (std::vector<std::int32_t>{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(made.positions, (std::vector<std::int32_t>{0, 1, 0, 1, 2, 3}));
}

TEST(Padding, has_no_document_and_no_weight_in_any_stack) {
  Recipe const recipe{.objective = Objective::spans, .lengths = {4, 3}, .ids = {.pad = 9}};
  SequenceBuffer buffer(recipe.lengths);
  make_padding(recipe, buffer.fields());
  for (int stack = 0; stack < 2; ++stack) {
    auto const made = stack_of(buffer.fields(), stack);
    auto const rows = static_cast<std::size_t>(recipe.lengths[static_cast<std::size_t>(stack)]);
    EXPECT_EQ(made.tokens, std::vector<std::int32_t>(rows, 9));
    EXPECT_EQ(made.documents, std::vector<std::int32_t>(rows, -1));
    EXPECT_EQ(made.weights, std::vector<float>(rows));
  }
}

// One buffer holds one sequence after the other.
TEST(Padding, has_nothing_of_the_sequence_before) {
  Recipe const recipe{.objective = Objective::spans,
                      .pack = true,
                      .lengths = {12, 9},
                      .window = 12,
                      .ids = {.pad = 9, .eos = 8, .first_sentinel = 99}};
  SequenceBuffer buffer(recipe.lengths);
  std::vector<std::int64_t> const starts{5}, ones{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  auto const fill = [&](std::vector<std::int64_t> const& documents) {
    make_sequence(recipe, {counted(13, 100), documents}, 3, buffer.fields());
  };
  auto const expect_empty = [&] {
    for (int stack = 0; stack < 2; ++stack) {
      auto const made = stack_of(buffer.fields(), stack);
      auto const rows = made.tokens.size();
      std::vector<std::int32_t> const pads(rows, 9), zeros(rows), none(rows, -1);
      EXPECT_EQ(made, (Sequence{pads, none, zeros, zeros, pads, std::vector<float>(rows)}));
    }
  };
  fill(starts);
  EXPECT_EQ(stack_of(buffer.fields(), 1).documents[0], 0);
  make_padding(recipe, buffer.fields());
  expect_empty();
  fill(starts);
  fill(ones);  // of which nothing can be told
  expect_empty();
}

TEST(SequenceBuffer, refuses_a_stack_that_it_has_not_and_rows_of_another_length) {
  SequenceBuffer const buffer(std::array{std::int64_t{4}});
  std::vector<std::int32_t> rows(8);
  auto const batch = [&](int stack) {
    return BatchBuffers({{BatchField::tokens, stack, std::as_writable_bytes(std::span(rows))}});
  };
  EXPECT_NO_THROW(buffer.copy_to(batch(0), 2, 1));
  EXPECT_THROW(buffer.copy_to(batch(1), 2, 1), std::logic_error);
  EXPECT_THROW(buffer.copy_to(batch(0), 3, 1), std::logic_error);
}

Config config_of(std::int64_t sequence) {
  Config config;
  config.data.sequence = sequence;
  return config;
}

TEST(Recipe, of_the_next_token_has_no_special_ones) {
  auto const config = config_of(64);
  EXPECT_EQ(special_count(config.data, Objective::next), 0);
  auto const recipe = recipe_of(config, Objective::next, 256, "byte");
  EXPECT_EQ(recipe.words, 256);
  EXPECT_EQ(recipe.ids.eos, -1);
  EXPECT_EQ(recipe.window, 64);
  EXPECT_EQ(recipe_of(config, Objective::next, 257, "byte").ids.eos, 256);
  EXPECT_EQ(recipe_of(config, Objective::next, 257, "gpt2").ids.eos, -1);
}

TEST(Recipe, places_special_tokens_after_those_of_the_text) {
  auto const config = config_of(512);
  ASSERT_EQ(special_count(config.data, Objective::masked), 1);
  auto const bert = recipe_of(config, Objective::masked, 258, "byte");
  EXPECT_EQ(bert.ids.mask, 257);
  EXPECT_EQ(bert.ids.eos, 256);
  EXPECT_EQ(bert.words, 257);
  ASSERT_EQ(special_count(config.data, Objective::spans), 101);
  auto const t5 = recipe_of(config, Objective::spans, 256 + 101, "byte");
  EXPECT_EQ(t5.ids.first_sentinel, 356);
  EXPECT_EQ(t5.ids.pad, 256);
  EXPECT_EQ(t5.words, 256);
  EXPECT_EQ(t5.window, 568);
  // Longer sequences may have more spans than T5 has sentinels.
  EXPECT_EQ(special_count(config_of(4096).data, Objective::spans),
            1 + span_counts(span_window(4096, 4096)).spans);
}

TEST(Recipe, takes_the_ids_that_are_given) {
  auto config = config_of(512);
  config.data.pad_id = 0;
  config.data.eos_id = 1;
  config.data.sentinel_id = 32'099;
  EXPECT_EQ(special_count(config.data, Objective::spans), 0);
  auto const recipe = recipe_of(config, Objective::spans, 32'128, "spm");
  EXPECT_EQ(recipe.ids.first_sentinel, 32'099);
  EXPECT_EQ(recipe.ids.pad, 0);
  EXPECT_EQ(recipe.ids.eos, 1);
  EXPECT_EQ(recipe.words, 32'128);
}

// Those that are used and, for texts, those that T5 has beside them, as far as there are ids.
TEST(Recipe, knows_how_many_sentinels_a_model_has) {
  auto const sentinels = [](std::int64_t sequence, std::optional<std::int64_t> first) {
    auto config = config_of(sequence);
    config.data.sentinel_id = first;
    return recipe_of(config, Objective::spans, 32'128, "spm").ids.sentinels;
  };
  EXPECT_EQ(sentinels(512, {}), 100);
  EXPECT_EQ(sentinels(4096, {}), 227);
  EXPECT_EQ(sentinels(512, 32'099), 100);
  EXPECT_EQ(sentinels(512, 99), 100);
  EXPECT_EQ(sentinels(512, 98), 99);
  EXPECT_EQ(sentinels(512, 27), 28) << "as many as its spans";
}

TEST(Recipe, counts_the_ids_that_nobody_gave) {
  auto const count = [](std::optional<std::int64_t> DataConfig::*given, Objective objective) {
    auto data = config_of(512).data;
    data.*given = 300;
    return special_count(data, objective);
  };
  EXPECT_EQ(count(&DataConfig::mask_id, Objective::masked), 0);
  EXPECT_EQ(count(&DataConfig::pad_id, Objective::spans), 100);
  EXPECT_EQ(count(&DataConfig::sentinel_id, Objective::spans), 1);
  EXPECT_EQ(count(&DataConfig::eos_id, Objective::spans), 101);
  EXPECT_EQ(count(&DataConfig::eos_id, Objective::masked), 1);
}

TEST(Recipe, of_an_imported_model_has_no_ids_that_nobody_gave) {
  Config config;
  auto const refused_key = [&](Objective objective) {
    try {
      recipe_of(config, objective, 500, "huggingface");
    } catch (Error const& error) {
      std::string const line = error.what();
      return line.substr(0, line.find(':'));
    }
    return std::string();
  };
  EXPECT_EQ(refused_key(Objective::next), "");
  EXPECT_EQ(refused_key(Objective::masked), "data.mask_id");
  EXPECT_EQ(refused_key(Objective::spans), "data.pad_id");
  config.data.pad_id = 0;
  EXPECT_EQ(refused_key(Objective::spans), "data.sentinel_id");
  config.data.sentinel_id = 499;
  EXPECT_EQ(refused_key(Objective::spans), "");
}

TEST(Recipe, refuses_ids_outside_the_vocabulary_by_their_key) {
  auto const refusal = [](Config const& config, Objective objective, std::int64_t vocab) {
    try {
      recipe_of(config, objective, vocab, "byte");
    } catch (Error const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  auto config = config_of(512);
  EXPECT_EQ(
      refusal(config, Objective::spans, 99),
      "data.sentinel_id: ids -1 to 98 are not in a vocabulary of 99; give a larger model.vocab");
  config.data.mask_id = 300;
  EXPECT_EQ(refusal(config, Objective::masked, 300),
            "data.mask_id: ids 300 to 300 are not in a vocabulary of 300; give an id below 300");
  config.data.mask_id = 299;
  EXPECT_EQ(refusal(config, Objective::masked, 300), "");
  config = config_of(512);
  config.data.eos_id = 400;
  EXPECT_EQ(refusal(config, Objective::next, 400),
            "data.eos_id: ids 400 to 400 are not in a vocabulary of 400; give an id below 400");
  config = config_of(512);
  config.data.sentinel_id = 20;  // too low for its 28 spans
  EXPECT_EQ(refusal(config, Objective::spans, 300),
            "data.sentinel_id: ids -7 to 20 are not in a vocabulary of 300; give a higher id or a "
            "shorter data.sequence, which has fewer spans");
}

TEST(Recipe, refuses_one_id_for_two_things) {
  auto const expect = [](std::string const& line, Config const& config, Objective objective) {
    try {
      recipe_of(config, objective, 500, "spm");
      ADD_FAILURE() << line;
    } catch (Error const& error) {
      EXPECT_EQ(error.what(), line + "; give the id that it has in the model's tokenizer");
    }
  };
  auto config = config_of(512);  // which has 28 spans
  config.data.mask_id = config.data.eos_id = 7;
  expect("data.eos_id: id 7 is of data.mask_id too", config, Objective::masked);
  config = config_of(512);
  config.data.pad_id = 0, config.data.eos_id = 1, config.data.sentinel_id = 28;
  expect("data.sentinel_id: id 1 is of data.eos_id too", config, Objective::spans);
  config.data.sentinel_id = 29;
  EXPECT_EQ(recipe_of(config, Objective::spans, 500, "spm").ids.first_sentinel, 29);
  config.data.pad_id = 1;
  expect("data.pad_id: id 1 is of data.eos_id too", config, Objective::spans);
  config.data.pad_id = 29;
  expect("data.sentinel_id: id 29 is of data.pad_id too", config, Objective::spans);
  config.data.pad_id = 30;
  EXPECT_EQ(recipe_of(config, Objective::spans, 500, "spm").ids.pad, 30);
}

}  // namespace
}  // namespace spillway::train_objectives_test
