// Reads and writes that go on where the system stops half-way, and say why they end.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "base/checksum.hpp"
#include "io/file/file.hpp"
#include "io/file/file_checksum.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::whole_transfers_test {
namespace {

FileDescriptor scratch_file() {
  auto name = testing::TempDir() + "/whole-transfers-XXXXXX";
  FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
  ::unlink(name.c_str());
  return file;
}

// The system writes what there is room for, and says why it does not write more when asked again.
TEST(WholeTransfers, say_why_a_write_ends_half_way) {
  auto const file = scratch_file();
  std::vector<std::byte> const bytes(10'000, std::byte{1});
  test::FileSizeLimit const limit(6000);
  auto const first = write_fully(file.get(), bytes, 0);
  EXPECT_EQ(first.done_bytes, 6000);
  EXPECT_EQ(first.error, EFBIG);
  auto const behind = write_fully(file.get(), bytes, 5000);
  EXPECT_EQ(behind.done_bytes, 1000);
  EXPECT_EQ(behind.error, EFBIG);
}

TEST(WholeTransfers, end_a_read_without_an_error_where_the_file_ends) {
  auto const file = scratch_file();
  std::vector<std::byte> bytes(1000, std::byte{7});
  ASSERT_EQ(write_fully(file.get(), bytes, 0).error, 0);
  std::vector<std::byte> back(2000);
  auto const read = read_fully(file.get(), back, 300);
  EXPECT_EQ(read.done_bytes, 700);
  EXPECT_EQ(read.error, 0);
  EXPECT_EQ(std::ranges::count(back, std::byte{7}), 700);
  EXPECT_EQ(read_fully(file.get(), back, 5000).done_bytes, 0);
  EXPECT_EQ(read_fully(-1, back, 0).error, EBADF);
}

// More than is read at a time, from the middle.
TEST(WholeTransfers, add_the_bytes_of_a_range_to_a_sum_in_their_order) {
  auto const file = scratch_file();
  std::vector<std::byte> bytes(200'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 251);
  ASSERT_EQ(write_fully(file.get(), bytes, 0).error, 0);
  for (auto const& [first, size] : {std::pair{1000, 150'000}, {0, 65'536}, {7, 131'072}, {3, 0}}) {
    StreamingChecksum sum;
    add_range(sum, file, "file", first, size);
    auto const range =
        std::span(bytes).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
    EXPECT_EQ(sum.value(), checksum(range)) << first << " + " << size;
  }
  StreamingChecksum sum;
  add_range(sum, file, "file", 5, -1);  // where ranges overlap
  EXPECT_EQ(sum.value(), checksum({}));
  EXPECT_EQ(test::refused_with([&] { add_range(sum, file, "file", 199'999, 2); }, Status::damaged),
            "file: has become shorter");
}

}  // namespace
}  // namespace spillway::whole_transfers_test
