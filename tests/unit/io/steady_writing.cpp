// Storage is kept busy while much is written, and says so where it fails.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "io/file/output_file.hpp"

namespace {

std::vector<unsigned> begun;  // flags of each call
int begin_error = 0;

}  // namespace

// Takes the C library's place in this program.
extern "C" int sync_file_range(int, off64_t, off64_t, unsigned flags) {
  begun.push_back(flags);
  errno = begin_error;
  return begin_error == 0 ? 0 : -1;
}

namespace spillway::steady_writing_test {
namespace {

class SteadyWriting : public testing::Test {
 protected:
  SteadyWriting() {
    begun.clear();
    begin_error = 0;
  }
  ~SteadyWriting() override { std::filesystem::remove(m_path); }

  // Over and over the same mebibytes.
  void write_mebibytes(int count) {
    for (int i = 0; i < count; ++i) m_file.write(0, m_mebibyte);
  }

  std::filesystem::path const m_path = std::filesystem::path(testing::TempDir()) / "steady-writing";
  std::vector<std::byte> const m_mebibyte = std::vector<std::byte>(1 << 20);
  OutputFile m_file = OutputFile::create(m_path);
};

TEST_F(SteadyWriting, begins_after_each_64_mebibytes) {
  write_mebibytes(63);
  EXPECT_EQ(begun.size(), 0u);
  write_mebibytes(1);
  EXPECT_EQ(begun.size(), 1u);
  write_mebibytes(63);
  EXPECT_EQ(begun.size(), 1u);
  write_mebibytes(1);
  constexpr unsigned both = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE;
  EXPECT_EQ(begun, (std::vector<unsigned>{both, both}));
}

TEST_F(SteadyWriting, does_without_where_the_file_system_cannot) {
  for (int const error : {ENOSYS, EINVAL, ESPIPE}) {
    begin_error = error;
    EXPECT_NO_THROW(write_mebibytes(64)) << error;
  }
  EXPECT_EQ(begun.size(), 3u);
}

TEST_F(SteadyWriting, says_what_storage_says) {
  begin_error = EIO;
  try {
    write_mebibytes(64);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::storage);
    EXPECT_EQ(error.what(), m_path.string() + ": cannot be written: Input/output error");
  }
}

}  // namespace
}  // namespace spillway::steady_writing_test
