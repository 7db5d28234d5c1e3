// Text files whose bytes become the tokens of one file.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/h5/h5_file.hpp"
#include "io/tokens/token_file.hpp"
#include "tests/support/tokenize_bytes.hpp"
#include "tests/unit/io/tokens_case.hpp"

namespace spillway::tokenized_bytes_test {
namespace {

namespace fs = std::filesystem;
using test::TokensTest;

TEST_F(TokensTest, bytes_are_tokens_and_files_are_documents) {
  std::vector<fs::path> const inputs{text_file("1.txt", "ab\xff"), text_file("2.txt", ""),
                                     text_file("3.txt", std::string(70'000, 'c'))};
  auto const plain = test::tokenize_bytes(inputs, Output(m_dir / "plain.h5"), false);
  EXPECT_EQ(plain.tokens, 70'003);
  EXPECT_EQ(plain.documents, 2);
  EXPECT_EQ(plain.empty_files, 1);
  TokenFile const file(m_dir / "plain.h5");
  EXPECT_EQ(file.vocab(), 256);
  EXPECT_EQ(file.layout().token_bytes, 1);
  std::vector<std::int32_t> read(70'003);
  file.read(0, read);
  EXPECT_EQ(std::vector(read.begin(), read.begin() + 4),
            (std::vector<std::int32_t>{'a', 'b', 0xff, 'c'}));
  EXPECT_EQ(read.back(), 'c');

  test::tokenize_bytes(inputs, Output(m_dir / "separated.h5"), true);
  TokenFile const separated(m_dir / "separated.h5");
  EXPECT_EQ(separated.vocab(), 257);
  ASSERT_EQ(separated.count(), 70'005);
  std::vector<std::int32_t> five(5);
  separated.read(0, five);
  EXPECT_EQ(five, (std::vector<std::int32_t>{'a', 'b', 0xff, 256, 'c'}));
  auto const hdf5 = H5File::open(m_dir / "separated.h5");  // as others see it
  EXPECT_EQ(hdf5.read<std::int64_t>("/document_starts", 9), (std::vector<std::int64_t>{0, 4}));
  EXPECT_EQ(hdf5.read<std::uint16_t>("/tokens", 70'005)[3], 256);
  EXPECT_EQ(hdf5.text("/", "tokenizer"), "byte");
}

TEST_F(TokensTest, a_missing_input_leaves_no_output) {
  std::vector<fs::path> const inputs{text_file("1.txt", "ab"), m_dir / "missing.txt"};
  auto const error =
      error_of([&] { test::tokenize_bytes(inputs, Output(m_dir / "out.h5"), false); });
  EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_NE(std::string(error.what()).find("missing.txt"), std::string::npos);
  EXPECT_EQ(error_of([&] { test::tokenize_bytes({}, Output(m_dir / "out.h5"), false); }).status(),
            Status::bad_input);
  EXPECT_FALSE(fs::exists(m_dir / "out.h5"));
  for (auto const& entry : fs::directory_iterator(m_dir)) EXPECT_EQ(entry.path(), m_dir / "1.txt");
}

TEST_F(TokensTest, a_file_of_no_stated_size_that_has_text_is_refused_by_name) {
  fs::path const unsized_text = "/proc/self/status";
  if (!fs::exists(unsized_text)) GTEST_SKIP() << "no file here has text and the size 0";
  std::vector<fs::path> const inputs{text_file("1.txt", "ab"), unsized_text};
  auto const error =
      error_of([&] { test::tokenize_bytes(inputs, Output(m_dir / "out.h5"), false); });
  EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_EQ(error.what(),
            unsized_text.string() + ": has text, but its size is said to be 0: give a copy of it");
  EXPECT_FALSE(fs::exists(m_dir / "out.h5"));
}

TEST_F(TokensTest, an_unwritable_output_is_the_user_s_mistake) {
  std::vector<fs::path> const inputs{text_file("1.txt", "ab")};
  auto const error =
      error_of([&] { test::tokenize_bytes(inputs, Output(m_dir / "none" / "out.h5"), false); });
  EXPECT_EQ(error.status(), Status::bad_input);
}

}  // namespace
}  // namespace spillway::tokenized_bytes_test
