#include "io/file/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "io/file/seal.hpp"

namespace spillway::output_file_test {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public ::testing::Test {
 protected:
  OutputFileTest() { fs::create_directories(m_dir); }
  ~OutputFileTest() override { fs::remove_all(m_dir); }

  static void put(fs::path const& path, std::string const& text) { std::ofstream(path) << text; }
  static std::string get(fs::path const& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static void write(OutputFile file, std::int64_t offset_bytes, std::string_view text) {
    file.write(offset_bytes, std::as_bytes(std::span(text)));
    file.close();
  }

  fs::path const m_dir = fs::path(::testing::TempDir()) / "spillway-output-file";
  fs::path const m_file = m_dir / "file";
};

TEST_F(OutputFileTest, a_new_one_takes_the_place_of_what_had_the_name) {
  put(m_file, "something longer");
  write(OutputFile::create(m_file), 0, "new");
  EXPECT_EQ(get(m_file), "new");
}

TEST_F(OutputFileTest, a_link_in_its_place_is_removed_and_not_followed) {
  put(m_dir / "mine", "kept");
  fs::create_symlink(m_dir / "mine", m_file);
  write(OutputFile::create(m_file), 0, "new");
  EXPECT_EQ(get(m_dir / "mine"), "kept");
  EXPECT_FALSE(fs::is_symlink(m_file));
}

TEST_F(OutputFileTest, one_that_is_there_is_written_over_at_an_offset) {
  put(m_file, "0123456789");
  write(OutputFile::open(m_file), 4, "abc");
  EXPECT_EQ(get(m_file), "0123abc789");
}

TEST_F(OutputFileTest, links_pipes_and_what_is_missing_are_not_written_over) {
  put(m_dir / "mine", "kept");
  fs::create_symlink(m_dir / "mine", m_file);
  ASSERT_EQ(::mkfifo((m_dir / "pipe").c_str(), 0600), 0);
  for (auto const* name : {"file", "pipe", "missing", "."}) {
    try {
      OutputFile::open(m_dir / name);
      FAIL() << name;
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::storage);
      EXPECT_EQ(std::string(error.what()).find(m_dir.string()), 0u) << error.what();
    }
  }
}

TEST_F(OutputFileTest, an_end_that_storage_refuses_is_said) {
  auto file = OutputFile::create(m_file);
  ::close(file.descriptor());
  EXPECT_THROW(file.close(), Error);
  std::string_view const text = "x";
  EXPECT_THROW(file.write(0, std::as_bytes(std::span(text))), Error);
}

TEST(Seal, comes_off_again_and_breaks_with_any_bit) {
  auto const text = sealed("a: 1\n# checksum: of old\n");
  EXPECT_EQ(unsealed(text), "a: 1\n# checksum: of old\n");
  EXPECT_EQ(unsealed(sealed("")), "");
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THROW(unsealed(damaged), Error) << i;
    EXPECT_THROW(unsealed(text.substr(0, i)), Error) << i;
  }
  EXPECT_THROW(unsealed(text + "x"), Error);
}

}  // namespace
}  // namespace spillway::output_file_test
