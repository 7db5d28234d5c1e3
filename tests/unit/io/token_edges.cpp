// Token files at the ends of what they may be: pieces that are just full, wide tokens, old files,
// more tokens than 32 bits count.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/file/output_file.hpp"
#include "io/h5/h5_file.hpp"
#include "io/tokens/token_file.hpp"
#include "io/tokens/token_set.hpp"
#include "io/tokens/token_writer.hpp"
#include "tests/support/tokenize_bytes.hpp"

namespace spillway::test::token_edges_test {
namespace {

namespace fs = std::filesystem;
using Tokens = std::vector<std::int32_t>;

class TokenEdges : public testing::Test {
 protected:
  TokenEdges() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir);
  }
  ~TokenEdges() override { fs::remove_all(m_dir); }

  fs::path write(std::string const& name, std::int64_t vocab, Tokens const& tokens,
                 std::vector<std::int64_t> const& starts = {0}) const {
    TokenWriter writer(Output(m_dir / name), "test", vocab, std::ssize(tokens), std::ssize(starts));
    writer.append(tokens);
    writer.close(starts);
    return m_dir / name;
  }
  // Of version 1, as HDF5 alone says it.
  template <class T>
  fs::path write_old(H5Type type, std::vector<T> const& tokens,
                     std::vector<std::int64_t> const& starts) const {
    auto file = H5File::create(m_dir / "old.h5");
    file.set_text("/", "format", "spillway-tokens");
    file.set_integer("/", "version", 1);
    file.set_text("/", "tokenizer", "words");
    file.set_integer("/", "vocab", 1 << 20);
    file.create_dataset("/tokens", type, std::array{std::ssize(tokens)});
    file.create_dataset("/document_starts", H5Type::i64, std::array{std::ssize(starts)});
    auto const tokens_at = file.offset_bytes("/tokens"),
               starts_at = file.offset_bytes("/document_starts");
    file.close();
    auto values = OutputFile::open(m_dir / "old.h5");
    values.write(tokens_at, std::as_bytes(std::span(tokens)));
    values.write(starts_at, std::as_bytes(std::span(starts)));
    values.close();
    return m_dir / "old.h5";
  }
  static Tokens read(TokenFile const& file, std::int64_t first, std::int64_t size) {
    Tokens tokens(static_cast<std::size_t>(size));
    file.read(first, tokens);
    return tokens;
  }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway_token_edges";
};

TEST_F(TokenEdges, pieces_that_are_just_full_have_one_checksum_each) {
  for (std::int32_t const vocab : {256, 300, 70'000}) {
    auto const width = vocab == 256 ? 1 : vocab == 300 ? 2 : 4;
    for (std::int64_t const count : {16'384 / width, 32'768 / width, 32'768 / width + 1}) {
      SCOPED_TRACE(testing::Message() << vocab << " " << count);
      Tokens tokens(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<std::int32_t>(i * 7 + i / 251) % vocab;
      auto const path = write("t.h5", vocab, tokens, {0, 5});
      TokenFile const file(path);
      EXPECT_EQ(file.layout().token_bytes, width);
      EXPECT_EQ(read(file, 0, count), tokens);
      EXPECT_EQ(read(file, count - 1, 1), Tokens{tokens.back()});
      auto const hdf5 = H5File::open(path);
      EXPECT_EQ(std::ssize(hdf5.read<std::int64_t>("/piece_checksums", 9)),
                count * width == 16'384   ? 1
                : count * width == 32'768 ? 2
                                          : 3);
      EXPECT_EQ(hdf5.read<std::int64_t>("/document_starts", 9), (std::vector<std::int64_t>{0, 5}));
    }
  }
}

// The table of documents has pieces of 2048.
TEST_F(TokenEdges, documents_that_just_fill_a_piece_are_all_found) {
  for (std::int64_t const documents : {1, 2047, 2048, 2049, 4096}) {
    std::vector<std::int64_t> starts(static_cast<std::size_t>(documents));
    for (std::size_t i = 0; i < starts.size(); ++i)
      starts[i] = static_cast<std::int64_t>(3 * i + i % 2);
    auto const count = starts.back() + 2;
    TokenFile const file(write("t.h5", 256, Tokens(static_cast<std::size_t>(count)), starts));
    std::vector<std::int64_t> all, last, none;
    file.append_document_starts(0, count, all);
    EXPECT_EQ(all, starts) << documents;
    file.append_document_starts(starts.back(), count, last);
    EXPECT_EQ(last, std::vector{starts.back()}) << documents;
    file.append_document_starts(starts.back() + 1, count, none);
    EXPECT_TRUE(none.empty()) << documents;
  }
}

TEST_F(TokenEdges, old_files_are_read_in_every_width) {
  auto const expect = [](fs::path const& path, int width, Tokens const& tokens) {
    TokenFile const file(path);
    EXPECT_EQ(file.layout().token_bytes, width);
    EXPECT_EQ(file.layout().tokenizer, "words");
    EXPECT_EQ(file.vocab(), 1 << 20);
    EXPECT_EQ(file.layout().checksums_offset_bytes, 0);
    EXPECT_EQ(read(file, 0, file.count()), tokens);
    EXPECT_EQ(read(file, 1, 2), (Tokens{tokens[1], tokens[2]}));
    std::vector<std::int64_t> starts;
    file.append_document_starts(0, 4, starts);
    EXPECT_EQ(starts, (std::vector<std::int64_t>{0, 3}));
  };
  expect(write_old<std::uint8_t>(H5Type::u8, {3, 255, 7, 9}, {0, 3}), 1, {3, 255, 7, 9});
  expect(write_old<std::uint16_t>(H5Type::u16, {3, 65'535, 258, 9}, {0, 3}), 2,
         {3, 65'535, 258, 9});
  expect(write_old<std::uint32_t>(H5Type::u32, {3, 1'048'575, 66'051, 9}, {0, 3}), 4,
         {3, 1'048'575, 66'051, 9});
}

// Four gibibytes of which the file system stores a few bytes, twice.
TEST_F(TokenEdges, more_tokens_than_32_bits_count_are_a_set) {
  constexpr std::int64_t count = 2'147'483'647;
  auto const path = m_dir / "large.bin";
  std::array<std::int32_t, 256> const header{20240520, 1, 2'147'483'647};
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<char const*>(header.data()), sizeof header);
  fs::resize_file(path, 1024 + 2 * count);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  std::array<std::uint16_t, 1> const first{5}, last{7};
  file.seekp(1024).write(reinterpret_cast<char const*>(first.data()), 2);
  file.seekp(1024 + 2 * (count - 1)).write(reinterpret_cast<char const*>(last.data()), 2);
  file.close();
  TokenFile const one(path);
  EXPECT_EQ(one.count(), count);
  EXPECT_EQ(read(one, count - 2, 2), (Tokens{0, 7}));
  TokenSet const set("data.train", std::array{path.string(), path.string()});
  EXPECT_EQ(set.count(), 4'294'967'294);
  EXPECT_EQ(set.file_of(count - 1), 0u);
  EXPECT_EQ(set.file_of(count), 1u);
  EXPECT_EQ(set.start_of(1), count);
  Tokens across(4), end(1);
  set.read(count - 2, across);
  EXPECT_EQ(across, (Tokens{0, 7, 5, 0}));
  set.read(2 * count - 1, end);
  EXPECT_EQ(end, Tokens{7});
}

TEST_F(TokenEdges, every_token_of_a_set_is_of_the_file_that_has_it) {
  std::vector<std::string> const paths{write("a.h5", 300, Tokens(3)).string(),
                                       write("b.h5", 300, Tokens(1)).string(),
                                       write("c.h5", 300, Tokens(4)).string()};
  TokenSet const set("data.train", paths);
  std::vector<std::size_t> files;
  for (std::int64_t token = 0; token < set.count(); ++token) files.push_back(set.file_of(token));
  EXPECT_EQ(files, (std::vector<std::size_t>{0, 0, 0, 1, 2, 2, 2, 2}));
  EXPECT_THROW(set.file_of(-1), std::logic_error);
  EXPECT_EQ(set.start_of(0), 0);
  EXPECT_EQ(set.start_of(1), 3);
  EXPECT_EQ(set.start_of(2), 4);
  ASSERT_EQ(set.files().size(), 3u);
  EXPECT_EQ(set.files()[1].path(), paths[1]);
}

TEST_F(TokenEdges, a_folder_that_is_there_is_no_pattern_whatever_its_letters_mean) {
  for (auto const* folder : {"a?b", "aXb", "a\\b", "a*"}) {
    fs::create_directories(m_dir / folder);
    write(std::string(folder) + "/x.h5", 300, {1});
  }
  for (auto const* folder : {"a?b", "aXb", "a\\b", "a*"}) {
    auto const path = (m_dir / folder).string();
    EXPECT_EQ(matching(path + "/*.h5"), std::vector<std::string>{path + "/x.h5"}) << folder;
  }
  EXPECT_EQ(matching((m_dir / "a?[!Z]" / "x.h5").string()).size(), 3u);
  EXPECT_EQ(matching((m_dir / "none*").string()).size(), 0u);
}

// Each piece of it is another one.
TEST_F(TokenEdges, a_long_text_is_its_bytes_in_their_order) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += static_cast<char>(i % 251);
  std::ofstream(m_dir / "text", std::ios::binary) << text;
  test::tokenize_bytes(std::array{m_dir / "text", m_dir / "text"}, Output(m_dir / "t.h5"), true);
  TokenFile const file(m_dir / "t.h5");
  ASSERT_EQ(file.count(), 400'002);
  auto const tokens = read(file, 0, 400'002);
  for (std::size_t i = 0; i < 400'002; ++i) {
    auto const at = i % 200'001;
    ASSERT_EQ(tokens[i], at == 200'000 ? 256 : static_cast<int>(at % 251)) << i;
  }
}

}  // namespace
}  // namespace spillway::test::token_edges_test
