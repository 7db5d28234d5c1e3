// What a recipe makes of a text by its documents alone, held against the sequences that it makes.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>

#include "io/tokens/token_writer.hpp"
#include "train/sequence_reader.hpp"
#include "train/text_use.hpp"

namespace spillway {
namespace {

using Starts = std::vector<std::int64_t>;

// A token file, of which every token is 1.
class Text {
 public:
  Text(std::int64_t count, Starts const& starts)
      : m_path(std::filesystem::temp_directory_path() /
               ("train_text_use_" + std::to_string(::getpid()) + ".h5")) {
    std::vector<std::int32_t> const tokens(static_cast<std::size_t>(count), 1);
    TokenWriter writer(Output(m_path), "none", 200, count, std::ssize(starts));
    writer.append(tokens);
    writer.close(starts);
    m_tokens.emplace("data.train", std::vector{m_path.string()});
  }
  ~Text() {
    m_tokens.reset();
    std::filesystem::remove(m_path);
  }
  Text(Text const&) = delete;
  Text& operator=(Text const&) = delete;
  TokenSet const& tokens() const { return *m_tokens; }

 private:
  std::filesystem::path m_path;
  std::optional<TokenSet> m_tokens;
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

double targets_of(Text const& text, Recipe const& recipe) {
  SequenceReader reader(text.tokens(), recipe);
  SequenceBuffer made(recipe.lengths);
  double targets = 0;
  for (std::int64_t window = 0; window < windows_of(text.tokens(), recipe); ++window) {
    reader.read(window * recipe.window, window, 1, 0, made.fields());
    for (int stack = 0; stack < static_cast<int>(recipe.lengths.size()); ++stack)
      for (auto const weight : made.fields().get<BatchField::weights>(stack)) targets += weight;
  }
  return targets;
}

// Tokens of the text that a sequence has in either stack.
std::int64_t used_by(Text const& text, Recipe const& recipe, std::int64_t window) {
  SequenceReader reader(text.tokens(), recipe);
  SequenceBuffer made(recipe.lengths);
  reader.read(window * recipe.window, window, 1, 0, made.fields());
  return std::ranges::count(made.fields().get<BatchField::tokens>(0), 1) +
         std::ranges::count(made.fields().get<BatchField::targets>(1), 1);
}

bool says_it_can_predict(Text const& text, Recipe const& recipe) {
  return can_predict(text.tokens(), recipe, windows_of(text.tokens(), recipe));
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

TEST(TextUse, counts_the_tokens_that_sequences_have) {
  for (std::int64_t const longest : {1, 2, 3, 7, 30, 400}) {
    Text const text(3000, documents(3000, longest, 5));
    for (auto const& recipe : {spans(64, 16), spans(64, 64), spans(9, 40), spans(128, 29, -1)}) {
      auto const windows = windows_of(text.tokens(), recipe);
      std::int64_t used = 0;
      for (std::int64_t window = 0; window < windows; ++window) {
        auto const of_window = used_by(text, recipe, window);
        EXPECT_EQ(tokens_used(text.tokens(), recipe, window, 1), of_window) << window;
        used += of_window;
      }
      EXPECT_EQ(tokens_used(text.tokens(), recipe, 0, windows), used) << longest;
      EXPECT_EQ(says_it_can_predict(text, recipe), used > 0) << longest;
    }
  }
}

TEST(TextUse, is_whole_where_documents_are_not_kept_apart_or_nothing_is_added_to_them) {
  Text const text(3000, documents(3000, 7, 5));
  auto unpacked = spans(64, 16);
  unpacked.pack = false;
  for (auto const& recipe : {unpacked, next(64)}) {
    EXPECT_EQ(tokens_used(text.tokens(), recipe, 1, 3), 3 * recipe.window);
    EXPECT_EQ(describe_unused(text.tokens(), recipe, "data.train"), "");
  }
}

// Of 20 tokens 19 rows of the encoder and 5 of the decoder are made: 29 rows have 5 of these, and
// then 4 rows, which tell of 8 tokens or fewer.
TEST(TextUse, names_the_share_that_no_sequence_has_and_what_leaves_less) {
  Starts starts;
  for (std::int64_t start = 0; start < 40'000; start += 20) starts.push_back(start);
  Text const text(40'000, starts);
  auto const recipe = spans(128, 29);
  ASSERT_EQ(recipe.window, 141);
  auto const share = 100 - 100.0 * static_cast<double>(tokens_used(text.tokens(), recipe, 0, 283)) /
                               (283 * 141);
  EXPECT_GT(share, 10);
  auto const roomy = spans(128, 128);
  auto const other = 100 - 100.0 * static_cast<double>(tokens_used(text.tokens(), roomy, 0, 283)) /
                               (283 * 141);
  EXPECT_EQ(describe_unused(text.tokens(), recipe, "data.train"),
            fmt::format("data.train: {:.3g} % of the tokens are never used: with data.pack and "
                        "spans a sequence is full before its window ends, or a document has one "
                        "token in it; data.target=128 leaves {:.3g} %, data.pack=false none",
                        share, other));
  EXPECT_EQ(describe_unused(text.tokens(), roomy, "data.train").find("data.target"),
            std::string::npos);
}

TEST(TextUse, tells_what_the_end_of_a_text_does_not_fill) {
  Text const text(383, {0});
  EXPECT_EQ(describe_rest(text.tokens(), next(64), "data.train"),
            "data.train: the last 62 of 383 tokens do not fill a sequence and are not read");
  EXPECT_EQ(describe_rest(text.tokens(), next(382), "data.train"), "");
  auto masked = next(64);
  masked.objective = Objective::masked;  // which does not look at the token behind a window
  EXPECT_EQ(describe_rest(text.tokens(), masked, "data.train"),
            "data.train: the last 63 of 383 tokens do not fill a sequence and are not read");
}

}  // namespace
}  // namespace spillway
