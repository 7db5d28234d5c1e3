// Storage is kept busy while much is written, and says so where it fails.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/file/output_file.hpp"
#include "tests/support/refused_with.hpp"

namespace {

std::vector<unsigned> begun;  // flags of each call
int begin_error = 0;
int waits = 0;  // calls of fsync
int wait_error = 0;

}  // namespace

// These take the C library's place in this program.
extern "C" int sync_file_range(int, off64_t, off64_t, unsigned flags) {
  begun.push_back(flags);
  errno = begin_error;
  return begin_error == 0 ? 0 : -1;
}

extern "C" int fsync(int fd) {
  ++waits;
  if (wait_error == 0) return static_cast<int>(syscall(SYS_fsync, fd));
  errno = wait_error;
  return -1;
}

namespace spillway::steady_writing_test {
namespace {

class SteadyWriting : public testing::Test {
 protected:
  SteadyWriting() {
    begun.clear();
    begin_error = waits = wait_error = 0;
  }
  ~SteadyWriting() override {
    wait_error = 0;
    std::filesystem::remove(m_path);
  }

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

TEST_F(SteadyWriting, waits_where_nothing_can_be_begun_and_says_what_that_says) {
  begin_error = EINVAL;
  write_mebibytes(64);
  EXPECT_EQ(waits, 1);
  wait_error = ENOSPC;
  EXPECT_EQ(test::refused_with([&] { write_mebibytes(64); }, Status::storage),
            m_path.string() + ": cannot be written: No space left on device");
}

TEST_F(SteadyWriting, waits_at_the_end_only_for_what_must_last) {
  write_file(m_path, "text", Durable::no);
  EXPECT_EQ(waits, 0);
  write_file(m_path, "text", Durable::yes);
  EXPECT_EQ(waits, 1);
  wait_error = EIO;
  EXPECT_NO_THROW(write_file(m_path, "text", Durable::no));
  EXPECT_EQ(test::refused_with([&] { write_file(m_path, "text"); }, Status::storage),
            m_path.string() + ": cannot be synchronised: Input/output error");
}

// A directory may be one that cannot be synchronised; a file that cannot be has lost what it holds.
TEST_F(SteadyWriting, takes_no_file_for_one_that_need_not_be_waited_for) {
  wait_error = EINVAL;
  EXPECT_NO_THROW(sync_path(m_path.parent_path()));
  EXPECT_EQ(test::refused_with([&] { sync_path(m_path); }, Status::storage),
            m_path.string() + ": cannot be synchronised: Invalid argument");
  wait_error = EIO;
  EXPECT_EQ(test::refused_with([&] { sync_path(m_path.parent_path()); }, Status::storage),
            m_path.parent_path().string() + ": cannot be synchronised: Input/output error");
}

}  // namespace
}  // namespace spillway::steady_writing_test
