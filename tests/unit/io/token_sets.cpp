// Sets of files that patterns name.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "io/tokens/token_set.hpp"
#include "tests/support/tokenize_bytes.hpp"
#include "tests/unit/io/tokens_case.hpp"

namespace spillway::token_sets_test {
namespace {

namespace fs = std::filesystem;
using test::TokensTest;

TEST_F(TokensTest, a_set_is_its_files_in_order_as_one_range) {
  token_file("b.h5", 300, {3, 4});
  token_file("a.h5", 300, {0, 1, 2});
  token_file("z.h5", 300, {5, 6, 7, 8});
  std::vector<std::string> const patterns{(m_dir / "[ab].h5").string(), (m_dir / "z.h5").string()};
  TokenSet const set("data.train", patterns);
  ASSERT_EQ(set.count(), 9);
  EXPECT_EQ(set.vocab(), 300);
  for (std::int64_t first = 0; first < 9; ++first) {
    for (std::int64_t end = first; end <= 9; ++end) {
      std::vector<std::int32_t> read(static_cast<std::size_t>(end - first));
      set.read(first, read);
      for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i], first + std::int64_t(i));
    }
  }
}

TEST_F(TokensTest, what_is_there_as_it_is_spelled_is_no_pattern) {
  auto const first_of = [&](std::string const& pattern) {
    std::vector<std::string> const patterns{(m_dir / pattern).string()};
    TokenSet const set("data.train", patterns);
    std::vector<std::int32_t> tokens(1);
    set.read(0, tokens);
    return std::pair(tokens[0], set.count());
  };
  token_file("[ab].h5", 300, {1});
  token_file("a.h5", 300, {2});
  fs::create_directories(m_dir / "runs [12] *");
  token_file("runs [12] */x.h5", 300, {3});
  token_file("runs [12] */y.h5", 300, {4});
  fs::create_directories(m_dir / "runs 1 z");
  token_file("runs 1 z/x.h5", 300, {5});
  EXPECT_EQ(first_of("[ab].h5"), std::pair(1, std::int64_t{1}));
  EXPECT_EQ(first_of("[a].h5"), std::pair(2, std::int64_t{1}));
  EXPECT_EQ(first_of("\\[ab].h5"), std::pair(1, std::int64_t{1}));
  EXPECT_EQ(first_of("runs [12] */x.h5"), std::pair(3, std::int64_t{1}));
  EXPECT_EQ(first_of("runs [12] */[xy].h5"), std::pair(3, std::int64_t{2}));
  EXPECT_EQ(first_of("runs [1] z/*.h5"), std::pair(5, std::int64_t{1}));
}

TEST_F(TokensTest, a_pattern_without_files_and_mixed_vocabularies_are_bad_input) {
  token_file("a.h5", 300, {0});
  token_file("b.h5", 301, {0});
  std::vector<std::string> const none{(m_dir / "*.bin").string()}, mixed{(m_dir / "*.h5").string()};
  auto const error = error_of([&] { TokenSet("data.valid", none); });
  EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_EQ(error.what(), "data.valid: no file matches " + none[0]);
  EXPECT_EQ(error_of([&] { TokenSet("data.train", mixed); }).status(), Status::bad_input);
  EXPECT_EQ(error_of([&] { TokenSet("data.train", {}); }).status(), Status::bad_input);
}

TEST_F(TokensTest, a_path_that_exists_is_that_file_whatever_its_brackets_would_match) {
  std::vector<fs::path> const inputs{text_file("1.txt", "abc")};
  test::tokenize_bytes(inputs, Output(m_dir / "t[1].h5"), false);
  test::tokenize_bytes(inputs, Output(m_dir / "t2.h5"), false);
  auto const found = [&](std::string const& pattern) {
    std::vector<std::string> names;
    auto const patterns = std::vector{(m_dir / pattern).string()};
    if (!names_files(patterns)) return names;
    TokenSet const set("data.train", patterns);
    for (auto const& file : set.files()) names.push_back(file.path().filename().string());
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(found("t[1].h5"), Names{"t[1].h5"});
  EXPECT_EQ(found("t[2].h5"), Names{"t2.h5"});
  EXPECT_EQ(found("t*.h5"), (Names{"t2.h5", "t[1].h5"}));
  EXPECT_EQ(found("t[3].h5"), Names{});
}

}  // namespace
}  // namespace spillway::token_sets_test
