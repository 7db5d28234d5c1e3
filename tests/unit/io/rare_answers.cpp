// What becomes of rare answers of the system: calls that are interrupted or cut short, file systems
// that cannot do everything, and exactly as much space as is needed.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/file/new_directory.hpp"
#include "io/file/output_file.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/spill/spill_file.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::rare_answers_test {
namespace {

struct Answers {
  // Of pread and pwrite, one after the other: so many bytes at most, or an errno, negative.
  std::vector<std::int64_t> transfers;
  int nameless = 0;  // errno of an open with O_TMPFILE; 0: it works
  int reserve = 0;   // of fallocate
  int lock = 0;      // of flock
  std::optional<struct statvfs> space;
};
Answers answers;

template <class Bytes>
ssize_t transfer(long number, int fd, Bytes* bytes, std::size_t size, off_t offset) {
  if (!answers.transfers.empty()) {
    auto const answer = answers.transfers.front();
    answers.transfers.erase(answers.transfers.begin());
    if (answer < 0) {
      errno = static_cast<int>(-answer);
      return -1;
    }
    size = std::min(size, static_cast<std::size_t>(answer));
  }
  return ::syscall(number, fd, bytes, size, offset);
}

template <class... T>
int unless(int error, long number, T... arguments) {
  if (error == 0) return static_cast<int>(::syscall(number, arguments...));
  errno = error;
  return -1;
}

bool is_nameless(int flags) {
  return (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace
}  // namespace spillway::test::rare_answers_test

// These take the C library's place in this program.
extern "C" {

ssize_t pread(int fd, void* bytes, std::size_t size, off_t offset) {
  return spillway::test::rare_answers_test::transfer(SYS_pread64, fd, bytes, size, offset);
}
ssize_t pwrite(int fd, void const* bytes, std::size_t size, off_t offset) {
  return spillway::test::rare_answers_test::transfer(SYS_pwrite64, fd, bytes, size, offset);
}

int open(char const* path, int flags, ...) {
  using namespace spillway::test::rare_answers_test;
  unsigned mode = 0;
  if ((flags & O_CREAT) != 0 || is_nameless(flags)) {
    std::va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, unsigned);
    va_end(rest);
  }
  return unless(is_nameless(flags) ? answers.nameless : 0, SYS_openat, AT_FDCWD, path, flags, mode);
}

int fallocate(int fd, int mode, off_t first, off_t bytes) {
  using namespace spillway::test::rare_answers_test;
  return unless(answers.reserve, SYS_fallocate, fd, mode, first, bytes);
}

int flock(int fd, int operation) noexcept {
  using namespace spillway::test::rare_answers_test;
  return unless(answers.lock, SYS_flock, fd, operation);
}

int statvfs(char const* path, struct statvfs* info) noexcept {
  using namespace spillway::test::rare_answers_test;
  if (answers.space) return *info = *answers.space, 0;
  int const place = unless(0, SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
  if (place < 0) return -1;
  int const result = ::fstatvfs(place, info);
  int const error = errno;
  ::close(place);
  errno = error;
  return result;
}

}  // extern "C"

namespace spillway::test::rare_answers_test {
namespace {

namespace fs = std::filesystem;

class RareAnswers : public testing::Test {
 protected:
  RareAnswers() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir);
  }
  ~RareAnswers() override {
    answers = {};
    fs::remove_all(m_dir);
  }

  // `bytes` are free for everybody, in fragments of 4 KiB; sizes of other things differ.
  static void leave_free(std::int64_t bytes) {
    struct statvfs space {};
    space.f_bsize = 65'536;
    space.f_frsize = 4096;
    space.f_blocks = 9000;
    space.f_bfree = 700;
    space.f_bavail = static_cast<fsblkcnt_t>(bytes / 4096);
    answers.space = space;
  }

  fs::path const m_dir = fs::canonical(testing::TempDir()) / "spillway-rare-answers";
};

TEST_F(RareAnswers, to_transfers_that_are_interrupted_or_short_are_asked_for_the_rest) {
  auto const file = open_without_name(m_dir);
  std::array<std::byte, 10> bytes{}, back{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 1);
  answers.transfers = {-EINTR, 4, -EINTR, 3};
  auto const written = write_fully(file.get(), bytes, 5);
  EXPECT_EQ(written.done_bytes, 10);
  EXPECT_EQ(written.error, 0);
  EXPECT_TRUE(answers.transfers.empty());
  EXPECT_EQ(size_bytes(file, m_dir), 15);
  answers.transfers = {2, -EINTR, -EINTR, 5};
  auto const read = read_fully(file.get(), back, 5);
  EXPECT_EQ(read.done_bytes, 10);
  EXPECT_EQ(read.error, 0);
  EXPECT_TRUE(answers.transfers.empty());
  EXPECT_EQ(back, bytes);
}

TEST_F(RareAnswers, that_end_a_transfer_leave_what_was_moved_and_say_why) {
  auto const file = open_without_name(m_dir);
  std::array<std::byte, 10> bytes{};
  answers.transfers = {4, 3, -EDQUOT};
  auto const written = write_fully(file.get(), bytes, 0);
  EXPECT_EQ(written.done_bytes, 7);
  EXPECT_EQ(written.error, EDQUOT);
  answers.transfers = {6, -EIO};
  auto const read = read_fully(file.get(), bytes, 0);
  EXPECT_EQ(read.done_bytes, 6);
  EXPECT_EQ(read.error, EIO);
  auto output = OutputFile::create(m_dir / "file");
  answers.transfers = {4, 0};  // it takes no more, and does not say why
  EXPECT_EQ(refused_with([&] { output.write(0, bytes); }, Status::storage),
            (m_dir / "file").string() + ": cannot be written: Input/output error");
}

TEST_F(RareAnswers, to_reads_of_carried_files_are_no_damage) {
  auto const sums = write_carried(m_dir, {{"a", kFileMode, "text"}});
  answers.transfers = {-EIO};
  auto const found = read_carried(m_dir, sums);
  ASSERT_EQ(found.unread.size(), 1u);
  EXPECT_EQ(found.unread[0].status(), Status::storage);
  EXPECT_EQ(found.unread[0].what(),
            (m_dir / kCarriedFolder / "a").string() + ": cannot be read: Input/output error");
}

TEST_F(RareAnswers, make_a_file_lose_its_name_where_none_is_made_without_one) {
  for (int const error : {0, EOPNOTSUPP, EISDIR}) {
    answers.nameless = error;
    auto const file = open_without_name(m_dir, O_APPEND);
    ASSERT_TRUE(file) << error;
    EXPECT_TRUE(fs::is_empty(m_dir)) << error;
    EXPECT_EQ(::fcntl(file.get(), F_GETFL) & (O_ACCMODE | O_APPEND), O_RDWR | O_APPEND) << error;
    EXPECT_EQ(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC) << error;
    struct stat info {};
    ASSERT_EQ(::fstat(file.get(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600u) << error;
  }
}

TEST_F(RareAnswers, about_files_without_names_are_kept_in_errno) {
  answers.nameless = EACCES;
  auto const refused = open_without_name(m_dir);
  int const first = errno;
  EXPECT_FALSE(refused);
  EXPECT_EQ(first, EACCES);
  answers.nameless = EOPNOTSUPP;
  auto const nowhere = open_without_name(m_dir / "none");
  int const second = errno;
  EXPECT_FALSE(nowhere);
  EXPECT_EQ(second, ENOENT);
}

TEST_F(RareAnswers, of_free_space_are_fragments_for_everybody_and_all_of_them_may_be_needed) {
  leave_free(3 * 4096);
  EXPECT_EQ(free_bytes(m_dir), 12'288);
  EXPECT_NO_THROW(require_free_bytes(m_dir, 12'288, "the thing"));
  EXPECT_EQ(refused_with([&] { require_free_bytes(m_dir, 12'289, "the thing"); }),
            m_dir.string() +
                ": the thing needs 12289 bytes, 12288 are free: free some space, or choose another "
                "directory");
  EXPECT_NO_THROW(require_space(m_dir, 12'288));
  EXPECT_EQ(
      refused_with([&] { require_space(m_dir, 12'289, Status::cannot_fit); }, Status::cannot_fit),
      m_dir.string() +
          ": checkpoints need 12289 bytes more, 12288 are free; free some space, choose another "
          "run.dir or keep fewer (run.checkpoint.keep)");
}

// Such as NFS before 4.2.
TEST_F(RareAnswers, of_storage_that_reserves_nothing_are_trusted_as_far_as_there_is_room) {
  answers.reserve = EOPNOTSUPP;
  leave_free(65'536);
  SpillFile file(m_dir, 65'536, {.spare_bytes = 0});
  std::vector<std::byte> const bytes(65'536, std::byte{7});
  std::vector<std::byte> back(bytes.size());
  EXPECT_EQ(file.write(0, bytes), IoResult::ok);
  EXPECT_EQ(file.read(0, back), IoResult::ok);
  EXPECT_EQ(back, bytes);
  auto const refused = [&](std::int64_t size, Status status = Status::cannot_fit) {
    return refused_with([&] { SpillFile more(m_dir, size, {.spare_bytes = 0}); }, status);
  };
  auto const expected = [&](int bytes_needed, char const* why) {
    return fmt::format(
        "memory.nvme.path: {} cannot hold the spill file: {} bytes needed, 65536 free ({}); choose "
        "another path or a plan that spills less",
        m_dir.string(), bytes_needed, why);
  };
  EXPECT_EQ(refused(65'537), expected(131'072, "No space left on device"));
  for (int const full : {ENOSPC, EDQUOT, EFBIG}) {
    answers.reserve = full;
    EXPECT_EQ(refused(65'536), expected(65'536, std::strerror(full)));
  }
  answers.reserve = EIO;
  EXPECT_EQ(refused(65'536, Status::storage), "memory.nvme.path: " + m_dir.string() +
                                                  ": no bytes can be reserved: Input/output error");
}

TEST_F(RareAnswers, about_locks_keep_nobody_from_writing_unless_another_has_it) {
  for (int const error : {ENOLCK, ENOSYS, EOPNOTSUPP}) {
    answers.lock = error;
    NewDirectory directory(m_dir / std::to_string(error));
    directory.publish();
  }
  EXPECT_EQ(names_in(m_dir).size(), 3u);
  answers.lock = EWOULDBLOCK;
  EXPECT_EQ(refused_with([&] { NewDirectory directory(m_dir / "held"); }),
            (m_dir / "held.spillway-partial").string() +
                ": another process is writing it: wait for it, or choose another directory");
}

}  // namespace
}  // namespace spillway::test::rare_answers_test
