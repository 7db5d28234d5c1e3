// What `rok` measures and how it tells; the measuring itself is tests/parity/rok_command.cpp.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <span>

#include "rok/rok_report.hpp"
#include "samples/random_batches.hpp"

namespace spillway::train_rok_test {
namespace {

using Micros = std::vector<std::int64_t>;

TEST(Rok, half_and_double_are_measured_as_far_as_there_are_sequences) {
  EXPECT_EQ(rok_micros(4, 32), (Micros{2, 4, 8}));
  EXPECT_EQ(rok_micros(4, 6), (Micros{2, 4, 6}));
  EXPECT_EQ(rok_micros(4, 4), (Micros{2, 4}));
  EXPECT_EQ(rok_micros(4, 3), (Micros{2, 4}));
  EXPECT_EQ(rok_micros(1, 1), (Micros{1}));
}

RokRow measured(BlockPolicy policy, std::int64_t micro) {
  RokRow row{policy, micro, 100};
  row.peak_bytes = row.planned_bytes = {3 << 20, 0, 1 << 20};
  row.activation_bytes = 1 << 30;
  row.step_s = row.predicted_step_s = 0.5;
  row.least_step_s = 0.25;
  row.most_step_s = 1;
  return row;
}

RokRow too_large() {
  RokRow row{BlockPolicy::keep, 8, 100};
  row.planned_bytes = {9 << 20, 0, 0};
  row.why = "needs at least device 9MiB";
  return row;
}

TEST(Rok, a_point_that_was_not_measured_has_empty_cells) {
  std::vector<RokRow> const rows = {measured(BlockPolicy::light_nvme, 2), too_large()};
  auto const csv = rok_csv(rows);
  EXPECT_NE(
      csv.find("\nlight+nvme,2,2,100,3145728,0,1048576,3145728,0,1048576,1073741824,0.5,0.5,0.25,1,"
               "400,0,yes\n"),
      std::string::npos)
      << csv;
  EXPECT_NE(csv.find("\nkeep,8,8,100,9437184,0,0,,,,,,,,,,,no\n"), std::string::npos) << csv;
}

TEST(Rok, the_chart_has_a_curve_for_what_was_measured_only) {
  auto planned = measured(BlockPolicy::keep, 1), next = planned, other = planned;
  planned.policy = next.policy = other.policy = std::nullopt;
  next.peak_bytes[Tier::device] *= 2;
  other.micro = 2;
  std::vector<RokRow> const rows = {planned,
                                    next,
                                    other,
                                    too_large(),
                                    measured(BlockPolicy::light, 1),
                                    measured(BlockPolicy::nvme, 1)};
  auto const script = rok_script(rows, {"m", "c", "d", 3});
  EXPECT_NE(
      script.find("$curve1 << end\n3 0.5 0.25 1 1\n6 0.5 0.25 1 1\n\n3 0.25 0.125 0.5 2\nend\n"
                  "$curve2 << end\n3 0.5 0.25 1 1\nend\n$curve3 << end\n"),
      std::string::npos)
      << script;
  EXPECT_NE(script.find("title 'planned by spillway'"), std::string::npos) << script;
  EXPECT_EQ(script.find("'keep'"), std::string::npos);
  EXPECT_EQ(rok_script(std::span(rows).subspan(3, 1), {}), "");
}

struct Loaded {
  std::vector<std::int32_t> tokens, targets, positions, documents;
  std::vector<float> weights;
  std::vector<std::int64_t> samples;
};

Loaded load(RandomBatches& batches, std::int64_t step) {
  std::vector<std::int32_t> const words(12, -7);
  Loaded to{words, words, words, words, std::vector<float>(12), std::vector<std::int64_t>(3)};
  auto const bytes = [](auto& values) { return std::as_writable_bytes(std::span(values)); };
  batches.load(step, 0,
               BatchBuffers({{BatchField::tokens, 0, bytes(to.tokens)},
                             {BatchField::targets, 0, bytes(to.targets)},
                             {BatchField::positions, 0, bytes(to.positions)},
                             {BatchField::documents, 0, bytes(to.documents)},
                             {BatchField::weights, 0, bytes(to.weights)},
                             {BatchField::samples, 0, bytes(to.samples)}}));
  return to;
}

TEST(Rok, random_batches_are_of_the_vocabulary_and_the_same_when_asked_again) {
  RandomBatches batches({.sequences = 3, .micro = 3}, std::array{std::int64_t{4}}, 7, 1);
  auto const first = load(batches, 0), again = load(batches, 0), next = load(batches, 1);
  EXPECT_EQ(first.tokens, again.tokens);
  EXPECT_EQ(first.targets, again.targets);
  EXPECT_NE(first.tokens, next.tokens);
  EXPECT_EQ(next.samples, (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(first.positions, (std::vector<std::int32_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(first.documents, std::vector<std::int32_t>(12, 0));
  EXPECT_EQ(std::accumulate(first.weights.begin(), first.weights.end(), 0.0f), 12);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_GE(first.tokens[i], 0);
    EXPECT_LT(first.tokens[i], 7);
    if (i % 4 != 3) {
      EXPECT_EQ(first.targets[i], first.tokens[i + 1]);
    }
  }
}

// A rank's rows of a step that has too few, of an encoder's and a decoder's stack.
TEST(Rok, random_batches_fill_every_stack_and_pad_what_a_step_lacks) {
  std::array const lengths{std::int64_t{3}, std::int64_t{2}};
  RandomBatches batches({.sequences = 5, .micro = 2, .rank = 1, .ranks = 2}, lengths, 9, 1);
  std::vector<std::int32_t> encoder(6, -7), decoder(4, -7), targets(4, -7), documents(4, -7);
  std::vector<float> weights(4, -7);
  std::vector<std::int64_t> samples(2);
  auto const bytes = [](auto& values) { return std::as_writable_bytes(std::span(values)); };
  BatchBuffers const to({{BatchField::tokens, 0, bytes(encoder)},
                         {BatchField::tokens, 1, bytes(decoder)},
                         {BatchField::targets, 1, bytes(targets)},
                         {BatchField::documents, 1, bytes(documents)},
                         {BatchField::weights, 1, bytes(weights)},
                         {BatchField::samples, 0, bytes(samples)}});
  batches.load(3, 0, to);  // samples 2 and 3 of the step
  EXPECT_EQ(samples, (std::vector<std::int64_t>{17, 18}));
  EXPECT_EQ(weights, std::vector<float>(4, 1));
  EXPECT_EQ(documents, std::vector<std::int32_t>(4, 0));
  EXPECT_EQ(targets[0], decoder[1]);
  EXPECT_EQ(targets[2], decoder[3]);
  for (auto const* tokens : {&encoder, &decoder, &targets})
    for (auto const token : *tokens) EXPECT_TRUE(token >= 0 && token < 9) << token;
  batches.load(3, 1, to);  // sample 4 is rank 0's
  EXPECT_EQ(weights, std::vector<float>(4, 0));
  EXPECT_EQ(documents, std::vector<std::int32_t>(4, -1));
}

}  // namespace
}  // namespace spillway::train_rok_test
