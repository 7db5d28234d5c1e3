// A spill file over several directories, on drives that are sound and on drives of which one fails.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"
#include "tests/support/spill_file_fixture.hpp"

namespace spillway::test::striped_files_test {
namespace {

namespace fs = std::filesystem;

// The name under which the system shows an open file without a name begins with its directory.
std::string directory_of(int descriptor) {
  return fs::read_symlink(fmt::format("/proc/self/fd/{}", descriptor)).parent_path().string();
}

class StripedFiles : public SpillFileTest {
 protected:
  Directories make(int count) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) {
      all.push_back((m_dir / std::to_string(i)).string());
      fs::create_directories(all.back());
    }
    return all;
  }
  SpillFile scripted(ScriptedQueue::Script script, int drives, std::int64_t size,
                     SpillSettings settings = {}) {
    return SpillFile(make(drives), size, settings,
                     {std::make_unique<ScriptedQueue>(4, 1, std::move(script)), ""});
  }
  std::string drive(int number) const { return (m_dir / std::to_string(number)).string(); }
};

// Memory on a page goes by direct I/O, and must do so on both sides of a stripe's end.
TEST_F(StripedFiles, give_back_what_one_file_would) {
  auto memory = pattern(6 * kMebibyte, 7);
  std::vector<std::byte> back(memory.size());
  auto const to_page =
      static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(memory.data()) % 4096);
  for (int const drives : {1, 2, 3})
    for (auto const backend : {std::optional<Backend>(), std::optional(Backend::posix)})
      for (int const depth : {1, 32})
        for (auto const [from, to, size] :
             {std::array<std::int64_t, 3>{0, 0, 5 * kMebibyte},
              {0, kSpillAlignment, kStripeBytes + 77},
              {100, kStripeBytes - 3 * kSpillAlignment, kMebibyte},
              {0, kStripeBytes - kSpillAlignment, kSpillAlignment + 1},
              {0, 2 * kStripeBytes - kSpillAlignment, 2 * kMebibyte},
              {4095, kStripeBytes, 2}}) {
          SCOPED_TRACE(testing::Message() << drives << " drives, " << word(backend) << " " << depth
                                          << " " << from << " " << to << " " << size);
          SpillFile file(make(drives), 3 * kStripeBytes, {.queue = {backend, depth}});
          auto const bytes = part(memory, to_page + from, size);
          std::ranges::fill(back, std::byte{0});
          ASSERT_EQ(file.write(to, bytes), IoResult::ok) << file.first_failure();
          ASSERT_EQ(file.read(to, part(back, 0, size)), IoResult::ok) << file.first_failure();
          EXPECT_TRUE(std::ranges::equal(part(back, 0, size), bytes));
        }
}

TEST_F(StripedFiles, share_the_bytes_equally_and_overlap_nowhere) {
  constexpr std::int64_t size = 6 * kStripeBytes;
  for (int const drives : {2, 3}) {
    std::map<std::string, std::int64_t> written;
    std::map<std::string, std::set<std::int64_t>> begun;
    auto const note = [&](TransferRequest const& request) {
      auto const where = directory_of(request.file);
      written[where] += all_of(request);
      EXPECT_TRUE(begun[where].insert(request.offset_bytes).second);
      EXPECT_LE(request.offset_bytes % kStripeBytes + all_of(request), kStripeBytes);
      return all_of(request);
    };
    auto file = scripted(note, drives, size + kStripeBytes);
    ASSERT_EQ(file.write(5 * kSpillAlignment, pattern(size, 1)), IoResult::ok);
    ASSERT_EQ(written.size(), static_cast<std::size_t>(drives));
    for (auto const& [where, bytes] : written) EXPECT_EQ(bytes, size / drives) << where;
  }
}

// A range that begins between stripes lies on two drives, and each is named for what it fails.
TEST_F(StripedFiles, name_the_drive_that_fails) {
  for (int const bad : {0, 1, 2}) {
    auto const script = [&](TransferRequest const& request) -> std::int64_t {
      return directory_of(request.file) == drive(bad) ? -EIO : all_of(request);
    };
    auto file = scripted(script, 3, 6 * kStripeBytes, {.spare_bytes = 0});
    auto const bytes = pattern(kMebibyte, 1);
    for (int const sound : {1, 2}) {
      auto const stripe = (bad + sound) % 3 * kStripeBytes;
      std::vector<std::byte> back(bytes.size());
      EXPECT_EQ(file.write(stripe, bytes), IoResult::ok);
      EXPECT_EQ(file.read(stripe, back), IoResult::ok);
      EXPECT_EQ(back, bytes);
    }
    for (auto const offset : {bad * kStripeBytes, bad * kStripeBytes + 5 * kSpillAlignment,
                              (bad + 3) * kStripeBytes - 5 * kSpillAlignment}) {
      EXPECT_EQ(file.write(offset, bytes), IoResult::error);
      EXPECT_EQ(file.first_failure(),
                fmt::format("spill file in {}: write of 1048576 bytes at {}: Input/output error",
                            drive(bad), offset));
      file.forget_failure();
    }
  }
}

TEST_F(StripedFiles, name_the_drive_of_what_came_back_wrong) {
  FaultOnNth faults(Fault::flip_bit, 1, 0, true);
  SpillFile file(make(2), 3 * kStripeBytes, {.faults = &faults});
  auto const bytes = pattern(kMebibyte, 1);
  std::vector<std::byte> back(bytes.size());
  for (auto const& [offset, number] :
       {std::pair(kStripeBytes, 1), std::pair(2 * kStripeBytes - kSpillAlignment, 1),
        std::pair(2 * kStripeBytes, 0)}) {
    ASSERT_EQ(file.write(offset, bytes), IoResult::ok);
    ASSERT_EQ(file.read(offset, back), IoResult::corrupt);
    EXPECT_TRUE(file.first_failure().starts_with("spill file in " + drive(number) + ": read of "))
        << file.first_failure();
    file.forget_failure();
  }
}

// A range is written whole and read in parts, across the ends of stripes.
TEST_F(StripedFiles, give_back_parts_of_what_was_written_whole) {
  constexpr std::int64_t at = kStripeBytes - 5 * kSpillAlignment, size = 3 * kMebibyte + 12'345;
  SpillFile file(make(3), 3 * kStripeBytes, {});
  auto const bytes = pattern(size, 3);
  std::vector<std::byte> back(bytes.size());
  ASSERT_EQ(file.write(at, bytes), IoResult::ok);
  for (std::int64_t first = 0; first < size; first += kMebibyte)
    EXPECT_EQ(file.read(at + first, part(back, first, std::min(kMebibyte, size - first))),
              IoResult::ok)
        << first;
  EXPECT_EQ(back, bytes);
}

// A bit of the drive that holds the piece's beginning, wherever that is.
TEST_F(StripedFiles, find_what_was_stored_wrong_on_any_drive) {
  auto const bytes = pattern(kMebibyte, 1);
  std::vector<std::byte> back(bytes.size());
  for (std::int64_t const offset : {std::int64_t{0}, kStripeBytes, 2 * kStripeBytes}) {
    FaultOnNth faults(Fault::flip_bit, 0, 1);
    SpillFile file(make(3), 3 * kStripeBytes, {.faults = &faults});
    ASSERT_EQ(file.write(offset, bytes), IoResult::ok);
    EXPECT_EQ(file.read(offset, back), IoResult::corrupt) << offset;
  }
}

// A megabyte of one drive that takes no writes. Its spare places, which come first, take none.
TEST_F(StripedFiles, move_pieces_from_bad_places_to_other_drives) {
  constexpr std::int64_t size = 2 * kStripeBytes;
  auto const script = [&](TransferRequest const& request) -> std::int64_t {
    auto const at = request.offset_bytes;
    bool const bad =
        directory_of(request.file) == drive(0) && (at / kMebibyte == 1 || at >= kStripeBytes);
    return bad && request.direction == Direction::write ? -EIO : all_of(request);
  };
  auto file = scripted(script, 2, size);
  auto const bytes = pattern(size - 5000, 3);
  std::vector<std::byte> back(bytes.size());
  ASSERT_EQ(file.write(0, bytes), IoResult::ok) << file.first_failure();
  ASSERT_EQ(file.read(0, back), IoResult::ok);
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(file.counters().moved_pieces, kStripeBytes / kMebibyte + 1);
}

TEST_F(StripedFiles, say_which_drive_does_not_answer) {
  auto const script = [&](TransferRequest const& request) -> std::optional<std::int64_t> {
    if (directory_of(request.file) == drive(1)) return {};
    return all_of(request);
  };
  auto file = scripted(script, 2, 2 * kStripeBytes, {.patience_s = 0.5});
  EXPECT_EQ(file.write(kStripeBytes - kMebibyte, pattern(2 * kMebibyte, 1)), IoResult::error);
  auto const told = file.first_failure();
  auto const expected = fmt::format(
      "spill file in {}, {}: no answer for 0.5 s: write of 1048576 bytes at 0 in {} for ", drive(0),
      drive(1), drive(1));
  EXPECT_TRUE(told.starts_with(expected)) << told;
}

TEST_F(StripedFiles, take_their_parts_of_the_space_at_once) {
  constexpr rlim_t each = 6 * kMebibyte;  // a stripe and, in the first file, two spare places
  SpillSettings const settings{.spare_bytes = 2 * kMebibyte};
  {
    FileSizeLimit const limit(each);
    EXPECT_NO_THROW(SpillFile(make(2), 5 * kMebibyte + 1, settings));
  }
  FileSizeLimit const limit(each - 1);
  auto const said =
      refused_with([&] { SpillFile(make(2), 5 * kMebibyte + 1, settings); }, Status::cannot_fit);
  EXPECT_TRUE(said.starts_with("memory.nvme.path: " + drive(0) +
                               " cannot hold the spill file: 6291456 bytes needed, "))
      << said;
}

TEST_F(StripedFiles, want_different_directories_that_are_there) {
  EXPECT_NO_THROW(require_spill_place(make(3)));
  EXPECT_EQ(refused_with([&] {
              require_spill_place({{drive(0), drive(7), drive(1)}});
            }),
            "memory.nvme.path: no spill file in " + drive(7) + ": No such file or directory");
  fs::create_directory_symlink(drive(1), m_dir / "link");
  auto const link = (m_dir / "link").string();
  EXPECT_EQ(refused_with([&] {
              require_spill_place({{drive(0), drive(1), link}});
            }),
            "memory.nvme.path: " + drive(1) + " and " + link +
                " are one directory; name one on each drive");
  EXPECT_THROW(SpillFile({{drive(0), drive(7)}}, 4096, {}), Error);
  for (int const number : {0, 1, 2}) EXPECT_TRUE(fs::is_empty(drive(number)));
}

// Of one file system each directory has its part.
TEST_F(StripedFiles, have_as_much_room_as_is_free) {
  auto const free = free_bytes(m_dir);
  auto const room = spill_room_bytes(make(3));
  EXPECT_LE(room, std::max(free, free_bytes(m_dir)));
  EXPECT_GE(room, free / 2) << "others may have written meanwhile, but not half of the disk";
  EXPECT_THROW(spill_room_bytes({{drive(0), drive(7)}}), Error);
}

}  // namespace
}  // namespace spillway::test::striped_files_test
