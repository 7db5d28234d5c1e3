// What is drawn of a seed, number by number: a run that goes on with a later version must see the
// text that it would have seen.
#include <gtest/gtest.h>

#include <numeric>

#include "samples/data_order.hpp"
#include "samples/objectives.hpp"
#include "samples/sequence_buffer.hpp"

namespace spillway::frozen_draws_test {
namespace {

using Tokens = std::vector<std::int32_t>;

template <BatchField field>
auto rows(BatchBuffers const& from, int stack = 0) {
  auto const found = from.get<field>(stack);
  return std::vector(found.begin(), found.end());
}

Tokens first_tokens(std::int64_t count) {
  Tokens tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

TEST(FrozenDraws, of_windows) {
  DataOrder const order(11, 5, {100, 7});
  std::vector<std::int64_t> windows;
  for (std::int64_t sample = 100; sample < 122; ++sample)
    windows.push_back(order.sample(sample).window);
  EXPECT_EQ(windows, (std::vector<std::int64_t>{9, 5, 4,  0, 2, 7, 1, 3, 8, 6, 10,
                                                5, 1, 10, 4, 2, 7, 8, 6, 3, 0, 9}));
}

TEST(FrozenDraws, of_hidden_tokens) {
  Recipe const recipe{.objective = Objective::masked,
                      .lengths = {200},
                      .window = 200,
                      .words = 1000,
                      .ids = {.mask = 1001, .eos = 40},
                      .seed = 9};
  SequenceBuffer made(recipe.lengths);
  make_sequence(recipe, {first_tokens(201), {}}, 12'345, made.fields());
  auto const tokens = rows<BatchField::tokens>(made.fields());
  auto const weights = rows<BatchField::weights>(made.fields());
  Tokens hidden, seen;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    if (weights[row] == 0) continue;
    hidden.push_back(static_cast<std::int32_t>(row));
    seen.push_back(tokens[row]);
  }
  EXPECT_EQ(hidden,
            (Tokens{7,   10,  39,  41,  60,  73,  74,  81,  89,  100, 106, 111, 117, 118, 120,
                    122, 125, 133, 135, 138, 141, 148, 151, 156, 157, 159, 169, 188, 191}));
  EXPECT_EQ(seen, (Tokens{1001, 1001, 1001, 1001, 1001, 1001, 1001, 81,   1001, 1001,
                          1001, 111,  1001, 127,  120,  1001, 869,  1001, 135,  1001,
                          1001, 1001, 707,  1001, 1001, 1001, 1001, 1001, 1001}));
}

TEST(FrozenDraws, of_spans) {
  Recipe const recipe{.objective = Objective::spans,
                      .lengths = {80, 18},
                      .window = span_window(80, 18),
                      .words = 1000,
                      .ids = {.pad = 1000, .eos = 1001, .first_sentinel = 1100},
                      .seed = 9};
  SequenceBuffer made(recipe.lengths);
  make_sequence(recipe, {first_tokens(recipe.window + 1), {}}, 12'345, made.fields());
  EXPECT_EQ(
      rows<BatchField::targets>(made.fields(), 1),
      (Tokens{1100, 10, 11, 12, 13, 14, 1099, 45, 46, 47, 1098, 58, 59, 60, 1097, 86, 87, 1001}));
}

}  // namespace
}  // namespace spillway::frozen_draws_test
