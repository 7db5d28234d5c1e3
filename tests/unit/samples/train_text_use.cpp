// What a recipe makes of a text by its documents alone, held against the sequences that it makes.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <utility>

#include "io/tokens/token_writer.hpp"
#include "samples/sequence_reader.hpp"
#include "samples/text_use.hpp"

namespace spillway::train_text_use_test {
namespace {

using Starts = std::vector<std::int64_t>;

// A token file, of which every token is 1.
class Text {
 public:
  Text(std::int64_t count, Starts const& starts, std::string const& name = "text")
      : m_path(std::filesystem::temp_directory_path() /
               ("train_text_use_" + std::to_string(::getpid()) + name + ".h5")) {
    std::vector<std::int32_t> const tokens(static_cast<std::size_t>(count), 1);
    TokenWriter writer(Output(m_path), "none", 200, count, std::ssize(starts));
    writer.append(tokens);
    writer.close(starts);
  }
  ~Text() { std::filesystem::remove(m_path); }
  Text(Text const&) = delete;
  Text& operator=(Text const&) = delete;
  std::string path() const { return m_path.string(); }
  SampledText sampled(Recipe const& recipe) const {
    TokenSet tokens("data.train", std::vector{path()});
    TextWindows windows(tokens, recipe);
    return {std::move(tokens), std::move(windows)};
  }

 private:
  std::filesystem::path m_path;
};

Recipe next(std::int64_t sequence) {
  return {.objective = Objective::next, .pack = true, .lengths = {sequence}, .window = sequence};
}

constexpr std::int32_t kPad = 190, kEos = 191, kFirstSentinel = 180;

Recipe spans(std::int64_t sequence, std::int64_t target, std::int32_t eos = kEos) {
  return {.objective = Objective::spans,
          .pack = true,
          .lengths = {sequence, target},
          .window = span_window(sequence, target),
          .words = 100,
          .ids = {.pad = kPad, .eos = eos, .first_sentinel = kFirstSentinel}};
}

// Documents of 1 to `longest` tokens.
Starts documents(std::int64_t count, std::int64_t longest, unsigned seed) {
  std::mt19937 random(seed);
  Starts starts;
  for (std::int64_t start = 0; start < count; start += 1 + random() % longest)
    starts.push_back(start);
  return starts;
}

SequenceBuffer made_of(SampledText const& text, Recipe const& recipe, std::int64_t window) {
  SequenceReader reader(text.tokens, text.windows, recipe);
  SequenceBuffer made(recipe.lengths);
  reader.read(reader.window(window), window, 1, 0, made.fields());
  return made;
}

double targets_of(Text const& text, Recipe const& recipe) {
  auto const sampled = text.sampled(recipe);
  double targets = 0;
  for (std::int64_t window = 0; window < sampled.windows.count(); ++window) {
    auto const made = made_of(sampled, recipe, window);
    for (int stack = 0; stack < static_cast<int>(recipe.lengths.size()); ++stack)
      for (auto const weight : made.fields().get<BatchField::weights>(stack)) targets += weight;
  }
  return targets;
}

// Tokens of the text that a sequence has in either stack.
std::int64_t used_by(SampledText const& text, Recipe const& recipe, std::int64_t window) {
  auto const made = made_of(text, recipe, window);
  return std::ranges::count(made.fields().get<BatchField::tokens>(0), 1) +
         std::ranges::count(made.fields().get<BatchField::targets>(1), 1);
}

bool says_it_can_predict(Text const& text, Recipe const& recipe) {
  return can_predict(text.sampled(recipe), recipe);
}

std::vector<TextWindow> all_windows(SampledText const& text) {
  std::vector<std::int64_t> scratch;
  std::vector<TextWindow> all;
  for (std::int64_t window = 0; window < text.windows.count(); ++window)
    all.push_back(text.windows.at(text.tokens, window, scratch));
  return all;
}

std::int64_t documents_of_one(std::int64_t count, Starts const& starts) {
  std::int64_t found = 0;
  for (std::size_t i = 0; i < starts.size(); ++i)
    found += (i + 1 < starts.size() ? starts[i + 1] : count) - starts[i] == 1;
  return found;
}

// Where the windows of documents of these lengths begin.
Starts firsts_of(std::vector<std::int64_t> const& lengths, Recipe const& recipe) {
  Starts starts, firsts;
  std::int64_t count = 0;
  for (auto const length : lengths) starts.push_back(std::exchange(count, count + length));
  Text const text(count, starts);
  for (auto const& window : all_windows(text.sampled(recipe))) firsts.push_back(window.first);
  return firsts;
}

TEST(TextUse, knows_whether_anything_can_be_predicted) {
  Starts ones(101);
  std::iota(ones.begin(), ones.end(), 0);
  auto const recipe = next(10);
  EXPECT_FALSE(says_it_can_predict(Text(101, ones), recipe));
  auto unpacked = recipe;
  unpacked.pack = false;
  EXPECT_TRUE(says_it_can_predict(Text(101, ones), unpacked));
  for (std::int64_t joined = 1; joined < 101; ++joined) {  // one document of two tokens
    auto starts = ones;
    std::erase(starts, joined);
    Text const text(101, starts);
    EXPECT_EQ(targets_of(text, recipe), 1) << joined;
    EXPECT_TRUE(says_it_can_predict(text, recipe)) << joined;
  }
}

// Whose documents are looked up in several parts.
TEST(TextUse, finds_the_only_target_of_a_long_text) {
  constexpr std::int64_t count = (std::int64_t{1} << 21) + 1;
  Starts starts(count);
  std::iota(starts.begin(), starts.end(), 0);
  EXPECT_FALSE(says_it_can_predict(Text(count, starts), next(64)));
  starts.pop_back();
  EXPECT_TRUE(says_it_can_predict(Text(count, starts), next(64)));
}

// Of 20 tokens 19 rows of the encoder and 5 of the decoder are made: 29 rows have 5 of these, and
// then 4 rows, which tell of 16 tokens; the 4 that are left take 3 rows of the next 29.
TEST(TextWindows, end_where_a_stack_is_full) {
  EXPECT_EQ(firsts_of(std::vector<std::int64_t>(17, 20), spans(128, 29)),
            (Starts{0, 116, 220, 336}));
}

TEST(TextWindows, leave_no_token_alone_behind_their_end) {
  EXPECT_EQ(firsts_of({20, 20, 20, 20, 20, 17, 20}, spans(128, 29)), (Starts{0, 115}));
}

TEST(TextWindows, have_every_token_but_documents_of_one) {
  for (std::int64_t const longest : {1, 2, 3, 7, 30, 400}) {
    auto const starts = documents(6000, longest, 5);
    auto const alone = documents_of_one(6000, starts);
    Text const text(6000, starts);
    for (auto const& recipe :
         {spans(64, 16), spans(64, 64), spans(9, 40), spans(4, 9), spans(128, 29, -1)}) {
      auto const sampled = text.sampled(recipe);
      auto const& windows = sampled.windows;
      std::int64_t used = 0, end = 0;
      for (auto const& window : all_windows(sampled)) {
        EXPECT_GE(window.first, end);
        EXPECT_GT(window.used, 0);
        EXPECT_LE(window.tokens, recipe.window);
        end = window.first + window.tokens;
        used += window.used;
      }
      for (std::int64_t i = 0; i < windows.count(); ++i)
        EXPECT_EQ(windows.used_tokens(sampled.tokens, i, 1), used_by(sampled, recipe, i)) << i;
      EXPECT_EQ(used, 6000 - alone) << longest << " " << recipe.lengths[0];
      EXPECT_EQ(windows.used_tokens(), used);
      EXPECT_EQ(windows.used_tokens(sampled.tokens, 0, windows.count()), used);
      EXPECT_EQ(says_it_can_predict(text, recipe), used > 0) << longest;
      auto const unused = describe_unused(sampled, recipe, "data.train");
      EXPECT_EQ(unused.empty(), alone == 0);
      if (alone > 0) {
        EXPECT_TRUE(unused.starts_with(fmt::format("data.train: {} of 6000 tokens are", alone)));
      }
    }
  }
}

// Its documents are looked up a part at a time.
TEST(TextWindows, of_a_long_text_are_found_in_any_order) {
  constexpr std::int64_t count = (std::int64_t{1} << 21) + 12345;
  auto const starts = documents(count, 90, 7);
  Text const text(count, starts);
  auto const [tokens, windows] = text.sampled(spans(128, 29));
  EXPECT_EQ(windows.used_tokens(), count - documents_of_one(count, starts));
  std::int64_t used = 0, behind = count;
  std::vector<std::int64_t> scratch;
  scratch.reserve(windows.scratch_size());
  auto const room = scratch.capacity();
  for (auto i = windows.count() - 1; i >= 0; --i) {
    auto const window = windows.at(tokens, i, scratch);
    ASSERT_LE(window.first + window.tokens, behind) << i;
    behind = window.first;
    used += window.used;
  }
  EXPECT_EQ(scratch.capacity(), room);
  EXPECT_EQ(used, windows.used_tokens());
  EXPECT_EQ(windows.used_tokens(tokens, 100, 3), windows.used_tokens(tokens, 100, 1) +
                                                     windows.used_tokens(tokens, 101, 1) +
                                                     windows.used_tokens(tokens, 102, 1));
}

// The second file begins with a document; a window may hold the end of the first one and that.
TEST(TextWindows, go_on_in_the_next_file) {
  Text const one(1000, documents(1000, 30, 1)), other(2000, documents(2000, 30, 2), "other");
  TokenSet tokens("data.train", std::vector{one.path(), other.path()});
  auto const recipe = spans(128, 29);
  TextWindows windows(tokens, recipe);
  SampledText const both{std::move(tokens), std::move(windows)};
  auto const alone = documents_of_one(1000, documents(1000, 30, 1)) +
                     documents_of_one(2000, documents(2000, 30, 2));
  EXPECT_EQ(both.windows.used_tokens(), 3000 - alone);
  int across = 0;
  for (std::int64_t number = 0; auto const& window : all_windows(both)) {
    across += window.first < 1000 && window.first + window.tokens > 1000;
    EXPECT_EQ(window.used, used_by(both, recipe, number++));
  }
  EXPECT_EQ(across, 1);
}

TEST(TextWindows, are_equally_long_where_documents_take_no_rows) {
  Text const text(3000, documents(3000, 7, 5));
  auto unpacked = spans(64, 16);
  unpacked.pack = false;
  for (auto const& recipe : {unpacked, next(64)}) {
    auto const sampled = text.sampled(recipe);
    auto const& windows = sampled.windows;
    EXPECT_EQ(windows.count(), 2999 / recipe.window);
    EXPECT_EQ(windows.used_tokens(), windows.count() * recipe.window);
    auto const window = all_windows(sampled)[3];
    EXPECT_EQ(window.first, 3 * recipe.window);
    EXPECT_EQ(window.tokens, recipe.window);
    EXPECT_EQ(windows.used_tokens(sampled.tokens, 1, 3), 3 * recipe.window);
    EXPECT_TRUE(cut_name(recipe).empty());
  }
}

TEST(TextWindows, of_equal_length_share_one_token_and_stay_inside) {
  for (std::int64_t count = 9; count < 40; ++count) {
    auto const last = all_windows(Text(count, {0}).sampled(next(8))).back();
    EXPECT_EQ(last.first % 8, 0);
    EXPECT_LE(last.first + 9, count);      // the last window has all its tokens
    EXPECT_GT(last.first + 8 + 9, count);  // and another would not
  }
}

TEST(TextWindows, have_a_name_for_what_decides_where_they_end) {
  EXPECT_EQ(cut_name(spans(128, 29)),
            "that end where 128 or 29 rows are full, one of them a document's end");
  EXPECT_NE(cut_name(spans(128, 29)), cut_name(spans(128, 29, -1)));
  EXPECT_NE(cut_name(spans(128, 29)), cut_name(spans(128, 30)));
}

TEST(TextUse, tells_what_the_end_of_a_text_does_not_fill) {
  Text const text(383, {0});
  auto const unused = [&](Recipe const& recipe) {
    return describe_unused(text.sampled(recipe), recipe, "data.train");
  };
  EXPECT_EQ(unused(next(64)),
            "data.train: the last 62 of 383 tokens do not fill a sequence and are not read");
  EXPECT_EQ(unused(next(382)), "");
  auto masked = next(64);
  masked.objective = Objective::masked;  // which does not look at the token behind a window
  EXPECT_EQ(unused(masked),
            "data.train: the last 63 of 383 tokens do not fill a sequence and are not read");
}

}  // namespace
}  // namespace spillway::train_text_use_test
