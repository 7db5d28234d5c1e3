// Which tokens the steps of generating bring, and where the cache has them.
#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "generate/decoding.hpp"
#include "generate/generator.hpp"

namespace spillway::train_decoding_test {
namespace {

Config of_family(Family family, std::int64_t sequence) {
  Config config;
  config.model.family = family;
  config.data.sequence = sequence;
  return config;
}

TEST(Decodings, room_is_for_the_whole_text_where_the_positions_are_angles) {
  auto const graphs = decodings(of_family(Family::llama, 128), 256, 500, 200);
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_EQ(graphs[0].rows, kPromptRows);
  EXPECT_EQ(graphs[1].rows, 1);
  for (auto const& one : graphs) EXPECT_EQ(one.capacity, 700);
}

TEST(Decodings, room_is_for_the_positions_that_there_are) {
  EXPECT_EQ(decodings(of_family(Family::gpt, 128), 256, 20, 200)[0].capacity, 128);
  EXPECT_EQ(decodings(of_family(Family::gpt, 128), 256, 20, 200)[0].rows, 64)
      << "half of them, again";
  EXPECT_EQ(decodings(of_family(Family::gpt, 16), 256, 20, 200)[0].rows, 16);
  EXPECT_EQ(decodings(of_family(Family::gpt, 128), 256, 20, 5)[1].capacity, 25);
}

// Where the text just fits, nothing is read again, and a prompt needs its own rows alone.
TEST(Decodings, a_prompt_is_read_in_as_many_rows_as_it_ever_has) {
  auto const rows = [](std::int64_t positions, std::int64_t prompt, std::int64_t more) {
    auto const graphs = decodings(of_family(Family::gpt, positions), 256, prompt, more);
    EXPECT_EQ(graphs[1].rows, 1);
    EXPECT_EQ(graphs[0].capacity, graphs[1].capacity);
    return std::pair(graphs[0].rows, graphs[0].capacity);
  };
  using Sizes = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(rows(128, 20, 108), Sizes(20, 128));
  EXPECT_EQ(rows(128, 20, 109), Sizes(64, 128));
  EXPECT_EQ(rows(40, 30, 200), Sizes(30, 40)) << "more than half of the positions";
  EXPECT_EQ(rows(40, 10, 200), Sizes(20, 40));
  EXPECT_EQ(rows(40, 100, 200), Sizes(40, 40));
  EXPECT_EQ(rows(1000, 64, 1), Sizes(64, 65));
  EXPECT_EQ(rows(1000, 65, 1), Sizes(64, 66));
}

TEST(Decodings, an_encoder_reads_the_prompt_once) {
  auto const graphs = decodings(of_family(Family::t5, 128), 512, 300, 7);
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_TRUE(graphs[0].encodes);
  EXPECT_FALSE(graphs[1].encodes);
  for (auto const& one : graphs) {
    EXPECT_EQ(one.inputs, 300);
    EXPECT_EQ(one.rows, 1);
    EXPECT_EQ(one.capacity, 7);
  }
}

TEST(Decodings, a_prompt_of_more_rows_than_positions_is_refused_where_it_is_read_at_once) {
  EXPECT_EQ(decodings(of_family(Family::bert, 128), 257, 128, 1).front().rows, 128);
  EXPECT_THROW(decodings(of_family(Family::bert, 128), 257, 129, 1), Error);
}

// A cache that holds for every position the token that was last brought there.
class BroughtTokens {
 public:
  explicit BroughtTokens(Decoding const& decoding)
      : m_order(decoding), m_decoding(decoding), m_cache(decoding.capacity, -1) {}

  // Brings all of these tokens. Returns how many steps that took.
  int bring(std::int64_t tokens) {
    int steps = 0;
    do {
      auto const step = m_order.next(tokens);
      EXPECT_EQ(step.rows, step.of_prompt ? m_decoding.rows : 1);
      EXPECT_GE(step.token, 0);
      EXPECT_LE(step.token + step.rows, tokens);
      EXPECT_LE(step.position + step.rows, m_decoding.capacity);
      // What a step brings follows what is there.
      for (std::int64_t i = 0; i < step.position; ++i)
        EXPECT_EQ(m_cache[static_cast<std::size_t>(i)], step.token - step.position + i);
      for (std::int64_t i = 0; i < step.rows; ++i)
        m_cache.at(static_cast<std::size_t>(step.position + i)) = step.token + i;
      m_seen = step.position + step.rows;
      EXPECT_EQ(m_cache[static_cast<std::size_t>(m_seen - 1)] + 1, step.token + step.rows);
      ++steps;
    } while (!m_order.has(tokens) && steps < 1000);
    EXPECT_TRUE(m_order.has(tokens));
    return steps;
  }
  std::int64_t seen() const { return m_seen; }  // by the last row

 private:
  DecodeOrder m_order;
  Decoding m_decoding;
  std::vector<std::int64_t> m_cache;
  std::int64_t m_seen = 0;
};

TEST(DecodeOrder, reads_a_prompt_in_steps_of_several_rows_and_then_a_row_at_a_time) {
  BroughtTokens cache({.rows = 4, .capacity = 30});
  EXPECT_EQ(cache.bring(11), 3);
  EXPECT_EQ(cache.seen(), 11);
  for (std::int64_t tokens = 12; tokens <= 30; ++tokens) {
    EXPECT_EQ(cache.bring(tokens), 1);
    EXPECT_EQ(cache.seen(), tokens);
  }
}

TEST(DecodeOrder, a_cache_is_full_with_its_last_row) {
  DecodeOrder order({.rows = 2, .capacity = 4});
  auto const expect = [&](std::int64_t tokens, DecodeStep const& step, bool is_last) {
    auto const next = order.next(tokens);
    EXPECT_EQ(std::tuple(next.of_prompt, next.token, next.position, next.rows),
              std::tuple(step.of_prompt, step.token, step.position, step.rows))
        << tokens;
    EXPECT_EQ(order.has(tokens), is_last) << tokens;
  };
  expect(3, {true, 0, 0, 2}, false);
  expect(3, {false, 2, 2, 1}, true);
  expect(4, {false, 3, 3, 1}, true);
  expect(5, {true, 3, 0, 2}, true);
  expect(7, {true, 5, 2, 2}, true);
  expect(8, {true, 6, 0, 2}, true);
}

TEST(DecodeOrder, a_full_cache_goes_on_from_the_last_half_of_its_rows) {
  BroughtTokens cache({.rows = 4, .capacity = 10});
  cache.bring(10);
  EXPECT_EQ(cache.bring(11), 2);
  EXPECT_EQ(cache.seen(), 5);
  for (std::int64_t tokens = 12; tokens < 100; ++tokens) {
    cache.bring(tokens);
    EXPECT_GE(cache.seen(), 5);
  }
}

TEST(DecodeOrder, a_prompt_that_does_not_fit_is_read_from_its_end) {
  for (std::int64_t const capacity : {1, 2, 3, 7, 8}) {
    BroughtTokens cache({.rows = std::min<std::int64_t>(4, capacity), .capacity = capacity});
    cache.bring(100);
    EXPECT_EQ(cache.seen(), std::max<std::int64_t>(1, capacity / 2));
    for (std::int64_t tokens = 101; tokens < 130; ++tokens) cache.bring(tokens);
  }
}

class OneStep : public testing::Test {
 protected:
  std::vector<std::int32_t> tokens = {7, 8, 9}, rows = {-1, -1, -1}, inputs = {-1, -1},
                            positions = {-1, -1, -1}, types = {-1, -1, -1}, selected = {-1};
  BatchBuffers const buffers{{{BatchField::tokens, 0, bytes(inputs)},
                              {BatchField::tokens, 1, bytes(rows)},
                              {BatchField::positions, 1, bytes(positions)},
                              {BatchField::token_types, 1, bytes(types)},
                              {BatchField::position, 1, bytes(selected)}}};
  GenerateBatch batch;

  static std::span<std::byte> bytes(std::vector<std::int32_t>& values) {
    return std::as_writable_bytes(std::span(values));
  }
};

TEST_F(OneStep, brings_the_inputs_of_an_encoder_and_the_rows_of_a_decoder) {
  batch.inputs = {4, 5};
  batch.tokens = tokens;
  batch.position = 20;
  batch.selected = 2;
  batch.load(0, 0, buffers);
  EXPECT_EQ(inputs, (std::vector<std::int32_t>{4, 5}));
  EXPECT_EQ(rows, tokens);
  EXPECT_EQ(positions, (std::vector<std::int32_t>{20, 21, 22}));
  EXPECT_EQ(types, (std::vector<std::int32_t>{0, 0, 0}));
  EXPECT_EQ(selected, std::vector<std::int32_t>{2});
}

TEST_F(OneStep, of_other_rows_than_its_graph_is_refused) {
  batch.inputs = {4, 5, 6};
  batch.tokens = tokens;
  EXPECT_THROW(batch.load(0, 0, buffers), std::logic_error);
}

}  // namespace
}  // namespace spillway::train_decoding_test
