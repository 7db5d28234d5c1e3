#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "samples/sequence_buffer.hpp"
#include "samples/span_corruption.hpp"

namespace spillway::train_span_corruption_test {
namespace {

constexpr std::int32_t kPad = 60'000, kEos = 60'001, kFirstSentinel = 62'000;
using Tokens = std::vector<std::int32_t>;

Recipe spans(std::int64_t sequence, std::int64_t target, bool eos = true) {
  return {.objective = Objective::spans,
          .pack = true,
          .lengths = {sequence, target},
          .window = span_window(sequence, target),
          .words = 60'000,
          .ids = {.pad = kPad, .eos = eos ? kEos : -1, .first_sentinel = kFirstSentinel},
          .seed = 3};
}

// Every token is another one.
Tokens text_of(Recipe const& recipe) {
  Tokens text(static_cast<std::size_t>(recipe.window + 1));
  std::iota(text.begin(), text.end(), 0);
  return text;
}

struct Document {
  Tokens inputs, decoder, targets;
};

struct Made {
  explicit Made(Recipe const& recipe) : buffer(recipe.lengths) {}

  template <BatchField field>
  auto get(int stack) const {
    return buffer.fields().get<field>(stack);
  }
  // What a stack has of a document, in rows that must follow each other.
  template <BatchField field>
  Tokens rows(int stack, std::int32_t document) const {
    Tokens found;
    auto const documents = get<BatchField::documents>(stack);
    for (std::size_t row = 0; row < documents.size(); ++row)
      if (documents[row] == document) found.push_back(get<field>(stack)[row]);
    return found;
  }
  Document document(std::int32_t number) const {
    return {rows<BatchField::tokens>(0, number), rows<BatchField::tokens>(1, number),
            rows<BatchField::targets>(1, number)};
  }

  SequenceBuffer buffer;
};

Made make(Recipe const& recipe, Tokens const& text, std::int64_t sample,
          std::vector<std::int64_t> const& starts = {}) {
  Made made(recipe);
  make_sequence(recipe, {text, starts}, sample, made.buffer.fields());
  return made;
}

bool is_sentinel(std::int32_t token) {
  return token > kEos && token <= kFirstSentinel;
}

// The text again: where the inputs have a sentinel, what the targets have after it. Empty where the
// sentinels of both do not count down together.
Tokens merged(Document document, bool eos) {
  if (eos) {
    EXPECT_EQ(document.inputs.back(), kEos);
    EXPECT_EQ(document.targets.back(), kEos);
    document.inputs.pop_back(), document.targets.pop_back();
  }
  Tokens text;
  auto told = document.targets.begin();
  auto sentinel = kFirstSentinel;
  for (auto const token : document.inputs) {
    if (!is_sentinel(token)) {
      text.push_back(token);
      continue;
    }
    if (token != sentinel || told == document.targets.end() || *told++ != sentinel) return {};
    while (told != document.targets.end() && !is_sentinel(*told)) text.push_back(*told++);
    --sentinel;
  }
  return told == document.targets.end() ? text : Tokens{};
}

std::int64_t used(Made const& made, int stack) {
  auto const documents = made.get<BatchField::documents>(stack);
  return std::ranges::count_if(documents, [](std::int32_t document) { return document >= 0; });
}

TEST(SpanCorruption, is_undone_by_its_targets_for_all_lengths) {
  for (std::int64_t sequence = 3; sequence < 140; sequence += 3) {
    for (std::int64_t target = 3; target < 50; target += 4) {
      for (bool const eos : {true, false}) {
        auto const recipe = spans(sequence, target, eos);
        auto const text = text_of(recipe);
        auto const made = make(recipe, text, sequence * 1000 + target);
        EXPECT_EQ(merged(made.document(0), eos), Tokens(text.begin(), text.end() - 1))
            << sequence << " " << target;
      }
    }
  }
}

TEST(SpanCorruption, fills_the_rows_that_t5_computes) {
  auto const recipe = spans(512, 114);
  ASSERT_EQ(recipe.window, 568);
  for (std::int64_t sample = 0; sample < 20; ++sample) {
    auto const made = make(recipe, text_of(recipe), sample);
    EXPECT_EQ(used(made, 0), 512);
    EXPECT_EQ(used(made, 1), 114);
    EXPECT_EQ(std::ranges::count_if(made.document(0).targets, is_sentinel), 28);
  }
}

TEST(SpanCorruption, pads_what_it_does_not_fill) {
  auto const recipe = spans(40, 30);  // 40 rows need 10 of the decoder's
  auto const made = make(recipe, text_of(recipe), 1);
  auto const told = static_cast<std::size_t>(used(made, 1));
  EXPECT_LT(told, 12u);
  for (std::size_t row = 0; row < 30; ++row) {
    bool const pads = row >= told;
    EXPECT_EQ(made.get<BatchField::weights>(1)[row], pads ? 0 : 1);
    EXPECT_EQ(made.get<BatchField::documents>(1)[row], pads ? -1 : 0);
    EXPECT_EQ(made.get<BatchField::positions>(1)[row], pads ? 0 : static_cast<std::int32_t>(row));
    EXPECT_EQ(made.get<BatchField::tokens>(1)[row] == kPad, pads || row == 0);
  }
}

TEST(SpanCorruption, shows_the_decoder_its_targets_one_row_later) {
  auto const recipe = spans(100, 40);
  auto const made = make(recipe, text_of(recipe), 1, {30, 60});
  for (std::int32_t document = 0; document < 3; ++document) {
    auto expected = made.document(document).targets;
    ASSERT_FALSE(expected.empty());
    expected.insert(expected.begin(), kPad);
    expected.pop_back();
    EXPECT_EQ(made.document(document).decoder, expected);
  }
}

TEST(SpanCorruption, is_drawn_by_seed_and_sample_alone) {
  auto recipe = spans(200, 60);
  auto const text = text_of(recipe);
  auto const inputs = [&](std::int64_t sample) {
    return make(recipe, text, sample).document(0).inputs;
  };
  auto const first = inputs(7);
  EXPECT_EQ(first, inputs(7));
  EXPECT_NE(first, inputs(8));
  recipe.seed = 4;
  EXPECT_NE(first, inputs(7));
}

// 13 of 88 tokens in 4 spans: C(12, 3) = 220 ways to cut the noise, and 20 seen of each.
TEST(SpanCorruption, divides_noise_in_every_way_equally_often) {
  Recipe const recipe = spans(80, 18);
  ASSERT_EQ(recipe.window, 88);
  std::map<std::vector<std::int64_t>, int> seen;
  for (std::int64_t sample = 0; sample < 4400; ++sample) {
    auto const targets = make(recipe, text_of(recipe), sample).document(0).targets;
    std::vector<std::int64_t> places;
    for (std::size_t row = 0; row < targets.size(); ++row)
      if (is_sentinel(targets[row])) places.push_back(static_cast<std::int64_t>(row));
    ++seen[places];
  }
  ASSERT_EQ(std::ssize(seen), 220);
  double chi_squared = 0;
  for (auto const& [_, count] : seen) chi_squared += (count - 20) * (count - 20) / 20.0;
  EXPECT_LT(chi_squared, 219 + 6 * 21);  // six standard deviations
}

TEST(SpanCorruption, keeps_documents_apart_in_both_stacks) {
  auto const recipe = spans(60, 30);
  auto const text = text_of(recipe);
  std::vector<std::int64_t> const starts{1, 20, 23, recipe.window};  // the last is not a part of it
  for (std::int64_t sample = 0; sample < 50; ++sample) {
    auto const made = make(recipe, text, sample, starts);
    EXPECT_EQ(merged(made.document(0), true), Tokens(text.begin() + 1, text.begin() + 20));
    EXPECT_EQ(merged(made.document(1), true), Tokens(text.begin() + 20, text.begin() + 23));
    auto const last = merged(made.document(2), true);
    ASSERT_GE(last.size(), 30u);  // as much as there is room for
    EXPECT_TRUE(std::equal(last.begin(), last.end(), text.begin() + 23));
    EXPECT_TRUE(made.document(3).inputs.empty());
  }
}

TEST(SpanCorruption, takes_as_many_documents_as_have_room) {
  auto const recipe = spans(64, 16);
  std::vector<std::int64_t> starts;
  for (std::int64_t start = 3; start < recipe.window; start += 3) starts.push_back(start);
  auto const made = make(recipe, text_of(recipe), 2, starts);  // each needs 4 rows and 3 targets
  EXPECT_EQ(made.document(4).inputs.size(), 4u);
  EXPECT_TRUE(made.document(5).inputs.empty());
  EXPECT_EQ(used(made, 0), 20);
  EXPECT_EQ(used(made, 1), 15);
}

}  // namespace
}  // namespace spillway::train_span_corruption_test
