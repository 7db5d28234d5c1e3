// A `tokenize` that was interrupted goes on where it was, with the same file in the end.
#include "io/tokens/unfinished_tokens.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/tokens/byte_tokenizer.hpp"
#include "io/tokens/text_tokens.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/io/tokens_case.hpp"

namespace spillway::unfinished_tokens_test {
namespace {

namespace fs = std::filesystem;

class UnfinishedWork : public test::TokensTest {
 protected:
  UnfinishedWork() {
    std::string prose, records;
    for (int i = 0; i < 400; ++i) prose += "word " + std::to_string(i) + "\n";
    for (int i = 0; i < 200; ++i)
      records += R"({"prompt": "p)" + std::to_string(i) + R"(", "completion": "c"})" +
                 "\n{\"text\": \"\"}\n";
    m_files = {text_file("a.txt", prose), text_file("b.jsonl", records), text_file("c.txt", prose)};
    m_work.separator = true;
    m_work.piece_bytes = 64;
    m_work.unfinished = m_dir / "t.h5.unfinished";
    m_work.keep_every_bytes = 1;
  }

  // Returns how many times it was told that bytes are done.
  int tokenize(TextTokensWork const& work, int most = 1 << 20) {
    int told = 0;
    m_result = tokenize_texts(m_files, *byte_tokenizer(true), Output(m_dir / "t.h5"), work,
                              [&](std::int64_t) {
                                if (++told > most) throw std::runtime_error("interrupted");
                              });
    return told;
  }
  bool is_interrupted(int most) {
    try {
      tokenize(m_work, most);
    } catch (std::runtime_error const&) {
      return true;
    }
    return false;
  }
  test::TokenContents made() const { return test::contents_of(m_dir / "t.h5"); }
  test::TokenContents expected() {
    auto work = m_work;
    work.unfinished.clear();
    m_steps = tokenize(work);
    return made();
  }

  bool made_like_fresh() {
    tokenize(m_work);
    return made() == expected();
  }

  std::vector<fs::path> m_files;
  TextTokensWork m_work;
  TokenizeResult m_result;
  int m_steps = 0;
};

TEST_F(UnfinishedWork, goes_on_with_the_same_tokens_wherever_it_was_interrupted) {
  auto const whole = expected();
  auto const counts = m_result;
  for (int most = 1; most < m_steps; most += 61) {
    fs::remove(m_dir / "t.h5");
    ASSERT_TRUE(is_interrupted(most));
    EXPECT_FALSE(fs::exists(m_dir / "t.h5"));
    m_work.threads = most % 2 == 0 ? 3 : 1;
    auto const steps = tokenize(m_work);
    EXPECT_LE(steps, m_steps - most + 25) << "kept tokens are not made again";
    EXPECT_TRUE(made() == whole) << most;
    EXPECT_EQ(m_result.documents, counts.documents);
    EXPECT_EQ(m_result.learned, counts.learned);
    EXPECT_EQ(m_result.empty_records, counts.empty_records);
    EXPECT_FALSE(fs::exists(m_work.unfinished));
  }
}

TEST_F(UnfinishedWork, may_be_interrupted_again_and_again) {
  auto const whole = expected();
  int times = 0;
  while (is_interrupted(40)) ++times;
  EXPECT_GT(times, 3);
  EXPECT_TRUE(made() == whole);
}

TEST_F(UnfinishedWork, of_other_inputs_or_options_begins_anew) {
  ASSERT_TRUE(is_interrupted(60));
  m_files[0] = text_file("a.txt", "another text");
  EXPECT_TRUE(made_like_fresh());
  ASSERT_TRUE(is_interrupted(60));
  m_work.rules.learns_all = true;
  EXPECT_TRUE(made_like_fresh());
  ASSERT_TRUE(is_interrupted(60));
  m_work.identity = "another chat template";
  EXPECT_EQ(UnfinishedTokens(m_work.unfinished, "another").counts().jobs, 0);
}

TEST_F(UnfinishedWork, is_refused_where_another_is_at_work_and_where_tokens_are_gone) {
  ASSERT_TRUE(is_interrupted(60));
  {
    UnfinishedTokens const other(m_work.unfinished, "another");
    EXPECT_EQ(test::refused_with([&] { tokenize(m_work); }),
              m_work.unfinished.string() + ": another `tokenize` is at work here");
  }
  ASSERT_TRUE(is_interrupted(60));
  fs::resize_file(m_work.unfinished / "tokens", 10);
  EXPECT_EQ(test::refused_with([&] { tokenize(m_work); }, Status::storage),
            (m_work.unfinished / "tokens").string() +
                ": tokens cannot be read from a temporary file here: it has become shorter");
}

}  // namespace
}  // namespace spillway::unfinished_tokens_test
