// Where documents begin, in a file and in a set of files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/tokens/token_file.hpp"
#include "io/tokens/token_set.hpp"
#include "io/tokens/token_writer.hpp"
#include "tests/unit/io/tokens_case.hpp"

namespace spillway::token_documents_test {
namespace {

namespace fs = std::filesystem;
using test::TokensTest;

TEST_F(TokensTest, documents_that_cannot_be_are_damage) {
  for (auto const& starts : std::vector<std::vector<std::int64_t>>{
           {1, 2}, {0, 0}, {0, 100}, {0, -5}, {3, 1}, {0, std::int64_t{1} << 62}}) {
    TokenWriter writer(Output(m_dir / "t.h5"), "test", 256, 100, 2);
    writer.append(std::vector<std::int32_t>(100));
    writer.close(starts);
    auto const error = error_of([&] { TokenFile file(m_dir / "t.h5"); });
    EXPECT_EQ(error.status(), Status::damaged);
    EXPECT_NE(std::string(error.what()).find("a document cannot begin at"), std::string::npos);
  }
}

// Documents of 1 to 5 tokens: the table has several pieces.
class Documents : public TokensTest {
 protected:
  fs::path file(std::string const& name, std::int64_t documents, std::int64_t shift) {
    std::int64_t count = 0;
    std::vector<std::int64_t> starts;
    for (std::int64_t i = 0; i < documents; ++i) {
      starts.push_back(count);
      count += 1 + (i * i + shift) % 5;
    }
    for (auto const start : starts) m_all.push_back(m_count + start);
    m_count += count;
    TokenWriter writer(Output(m_dir / name), "test", 256, count, documents);
    writer.append(std::vector<std::int32_t>(static_cast<std::size_t>(count)));
    writer.close(starts);
    return m_dir / name;
  }
  std::vector<std::int64_t> expected(std::int64_t first, std::int64_t end) const {
    std::vector<std::int64_t> inside;
    std::ranges::copy_if(m_all, std::back_inserter(inside),
                         [&](std::int64_t start) { return start >= first && start < end; });
    return inside;
  }

  std::vector<std::int64_t> m_all;  // the beginnings in all files, one after the other
  std::int64_t m_count = 0;
};

TEST_F(Documents, are_found_in_any_range_of_a_file) {
  TokenFile const one(file("a.h5", 5000, 0));
  for (std::int64_t first = 0; first < m_count; first += 97) {
    for (std::int64_t const size : {0, 1, 2, 100, 9'000, 50'000}) {
      std::vector<std::int64_t> found{-7};  // what was there stays
      one.append_document_starts(first, first + size, found);
      EXPECT_EQ(found.front(), -7);
      found.erase(found.begin());
      EXPECT_EQ(found, expected(first, first + size)) << first << " + " << size;
    }
  }
}

TEST_F(Documents, of_a_set_are_those_of_its_files_and_every_file_begins_one) {
  std::vector<std::string> paths;
  for (auto const* const name : {"a.h5", "b.h5", "c.h5"})
    paths.push_back(file(name, 1 + std::ssize(m_all) * 40, 2).string());
  TokenSet const set("data.train", paths);
  for (std::int64_t first = -13; first < m_count; first += 13) {
    std::vector<std::int64_t> found;
    set.append_document_starts(first, std::min(first + 150, m_count), found);
    EXPECT_EQ(found, expected(first, first + 150)) << first;
  }
}

TEST_F(Documents, are_none_where_the_file_records_none) {
  TokenFile const llmc(llmc_file("t.bin", {1, 2, 3}));
  std::vector<std::int64_t> found;
  llmc.append_document_starts(0, 3, found);
  EXPECT_FALSE(llmc.has_documents());
  EXPECT_TRUE(found.empty());
}

TEST_F(Documents, that_change_after_the_file_was_opened_are_damage) {
  auto const path = file("t.h5", 5000, 0);
  TokenFile const opened(path);
  auto const at = opened.layout().documents_offset_bytes + 8 * 3000;  // in the second piece
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).seekp(at).put('\x7f');
  std::vector<std::int64_t> found;
  EXPECT_NO_THROW(opened.append_document_starts(0, 100, found));
  auto const changed = error_of([&] { opened.append_document_starts(0, m_count, found); });
  EXPECT_EQ(changed.status(), Status::damaged);
  EXPECT_EQ(changed.what(),
            path.string() + ": its documents' beginnings have changed since it was opened");
  EXPECT_EQ(error_of([&] { TokenFile again(path); }).status(), Status::damaged);
}

}  // namespace
}  // namespace spillway::token_documents_test
