// How addresses are dealt out to the files of several drives.
#include "io/spill/stripes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace spillway::stripes_test {
namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 40;

TEST(Stripes, are_dealt_out_in_turn) {
  Stripes const three(3);
  auto const expect = [&](std::int64_t address, std::size_t file, std::int64_t offset,
                          std::int64_t bytes) {
    auto const place = three.place(address);
    EXPECT_EQ(place.file, file) << address;
    EXPECT_EQ(place.offset_bytes, offset) << address;
    EXPECT_EQ(place.bytes, bytes) << address;
  };
  expect(0, 0, 0, kStripeBytes);
  expect(1, 0, 1, kStripeBytes - 1);
  expect(kStripeBytes - 1, 0, kStripeBytes - 1, 1);
  expect(kStripeBytes, 1, 0, kStripeBytes);
  expect(2 * kStripeBytes + 77, 2, 77, kStripeBytes - 77);
  expect(3 * kStripeBytes, 0, kStripeBytes, kStripeBytes);
  expect(3 * kMany + 5, 0, kMany + 5, kStripeBytes - 5);
}

// Direct I/O takes whole pages only, so what begins at a page must stay at one.
TEST(Stripes, leave_pages_where_they_were) {
  for (std::size_t const files : {1, 2, 3, 5})
    for (std::int64_t address = 0; address < 20 * kStripeBytes; address += kSpillAlignment) {
      auto const place = Stripes(files).place(address);
      EXPECT_EQ(place.offset_bytes % kSpillAlignment, 0);
      EXPECT_EQ(place.bytes % kSpillAlignment, files == 1 ? place.bytes % kSpillAlignment : 0);
    }
}

TEST(Stripes, of_a_single_file_are_the_file) {
  Stripes const one(1);
  for (std::int64_t const address : {std::int64_t{0}, kStripeBytes + 5, kMany}) {
    EXPECT_EQ(one.place(address).file, 0u);
    EXPECT_EQ(one.place(address).offset_bytes, address);
    EXPECT_GT(one.place(address).bytes, kMany);
    EXPECT_EQ(one.file_bytes(address, 0), address);
    EXPECT_EQ(one.most_end(address), address);
  }
  EXPECT_EQ(one.next_begin(1), kSpillAlignment);
  EXPECT_EQ(one.most_lost_bytes(), 0);
}

// Walks over all addresses below many ends, whole stretches at a time. Every byte of every file has
// one address, and no file has bytes left over.
TEST(Stripes, fill_files_without_holes_and_no_byte_twice) {
  for (std::size_t const files : {1, 2, 3, 5, 8})
    for (std::int64_t const end :
         {std::int64_t{0}, std::int64_t{1}, kStripeBytes - 1, kStripeBytes, kStripeBytes + 1,
          2 * kStripeBytes, 3 * kStripeBytes - 7, 7 * kStripeBytes + kSpillAlignment,
          40 * kStripeBytes, 41 * kStripeBytes + 4095}) {
      SCOPED_TRACE(testing::Message() << files << " files, " << end << " bytes");
      Stripes const stripes(files);
      std::vector<std::int64_t> filled(files);
      for (std::int64_t address = 0; address < end;) {
        auto const place = stripes.place(address);
        auto const bytes = std::min(place.bytes, end - address);
        ASSERT_LT(place.file, files);
        ASSERT_EQ(place.offset_bytes, filled[place.file]) << address;
        filled[place.file] += bytes;
        address += bytes;
      }
      for (std::size_t file = 0; file < files; ++file)
        EXPECT_EQ(stripes.file_bytes(end, file), filled[file]) << file;
    }
}

TEST(Stripes, hold_as_much_as_the_smallest_file_allows) {
  for (std::size_t const files : {1, 2, 3, 7})
    for (std::int64_t const room : {std::int64_t{0}, std::int64_t{4096}, kStripeBytes,
                                    5 * kStripeBytes - 1, 5 * kStripeBytes, 9 * kStripeBytes + 1}) {
      SCOPED_TRACE(testing::Message() << files << " files of " << room);
      Stripes const stripes(files);
      auto const end = stripes.most_end(room);
      auto const largest = [&](std::int64_t bytes) {
        std::int64_t most = 0;
        for (std::size_t file = 0; file < files; ++file)
          most = std::max(most, stripes.file_bytes(bytes, file));
        return most;
      };
      EXPECT_LE(largest(end), room);
      EXPECT_GT(largest(end + 1), room);
    }
}

// What several ranks put on the same drives, each with spare places from a stripe on.
TEST(Stripes, of_several_spill_files_lose_no_more_than_they_say) {
  constexpr std::int64_t spares = 4 * kStripeBytes;
  for (std::size_t const files : {2, 3, 7})
    for (std::int64_t const ranks : {1, 2, 3, 5})
      for (auto room = 50 * kStripeBytes; room < 60 * kStripeBytes; room += kSpillAlignment) {
        Stripes const stripes(files);
        auto const size = stripes.most_end(room) / ranks - spares - stripes.most_lost_bytes();
        ASSERT_GT(size, 0);
        auto const first_spare = stripes.next_begin(size);
        ASSERT_EQ(stripes.place(first_spare).bytes, kStripeBytes) << "it lies on one drive";
        for (std::size_t file = 0; file < files; ++file)
          ASSERT_LE(ranks * stripes.file_bytes(first_spare + spares, file), room)
              << files << " files, " << ranks << " ranks";
      }
}

}  // namespace
}  // namespace spillway::stripes_test
