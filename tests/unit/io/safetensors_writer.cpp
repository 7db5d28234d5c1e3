// A writer that misses elements, gets some twice, or cannot finish its files.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/safetensors/reader.hpp"
#include "io/safetensors/weight_index.hpp"
#include "io/safetensors/writer.hpp"
#include "io/safetensors/written_ranges.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/resource_limit.hpp"
#include "tests/unit/io/safetensors_weights.hpp"

namespace spillway::safetensors_writer_test {
namespace {

using test::kTensors, test::SafetensorsTest;

// Against one flag for each element.
TEST(WrittenRanges, are_added_where_nothing_is_yet) {
  std::mt19937 random(1);
  for (int run = 0; run < 300; ++run) {
    WrittenRanges ranges;
    std::vector<bool> flags(12);
    for (int i = 0; i < 20; ++i) {
      auto const first = static_cast<std::ptrdiff_t>(random() % 12);
      auto const last = first + static_cast<std::ptrdiff_t>(random() % (13 - unsigned(first)));
      auto const begin = flags.begin() + first, end = flags.begin() + last;
      bool const free = std::find(begin, end, true) == end;
      ASSERT_EQ(ranges.add(first, last), free) << first << " to " << last;
      if (free) std::fill(begin, end, true);
      ASSERT_EQ(ranges.cover(12), std::ranges::count(flags, true) == 12);
    }
  }
}

TEST_F(SafetensorsTest, elements_that_are_missing_or_written_twice_or_not_there_are_our_mistakes) {
  SafetensorsWriter writer(m_dir, TensorList({{"a", ElementType::f32, {4}}}));
  std::array<std::byte, 8> const half{};
  writer.write(0, 2, half);
  EXPECT_THROW(writer.finish(), std::logic_error);
  EXPECT_THROW(writer.write(0, 1, half), std::logic_error);
  EXPECT_THROW(writer.write(0, 3, half), std::logic_error);
  EXPECT_THROW(writer.write(0, -1, half), std::logic_error);
  EXPECT_THROW(writer.write(0, 0, std::span(half).first(7)), std::logic_error);
  EXPECT_THROW(writer.write(1, 0, half), std::out_of_range);
  writer.write(0, 0, half);
  EXPECT_NO_THROW(writer.finish());
  EXPECT_THROW(TensorList({kTensors[0], kTensors[0]}), std::logic_error);
}

TEST_F(SafetensorsTest, what_is_not_finished_leaves_nothing) {
  {
    SafetensorsWriter writer(m_dir, kTensors, 40);
    writer.write(0, 0, bytes_of(kTensors[0]));
    EXPECT_FALSE(is_safetensors(m_dir));
    EXPECT_EQ(test::names_in(m_dir).size(), 4u);
  }
  EXPECT_TRUE(std::filesystem::is_empty(m_dir));
}

TEST_F(SafetensorsTest, an_index_that_cannot_be_written_leaves_no_files_of_half_a_model) {
  std::string const in_its_way = std::string(kIndexFile) + ".partial";
  std::filesystem::create_directories(m_dir / in_its_way);
  {
    SafetensorsWriter writer(m_dir, kTensors, 40);
    expect_error([&] { write_all(writer); }, Status::storage, {in_its_way});
  }
  EXPECT_EQ(test::names_in(m_dir), std::vector<std::string>{in_its_way});
}

TEST_F(SafetensorsTest, storage_that_takes_no_more_is_named_and_nothing_stays) {
  test::FileSizeLimit const little(1000);
  expect_error(
      [&] {
        SafetensorsWriter writer(m_dir, TensorList({{"a", ElementType::u8, {2000}}}));
        write_all(writer);
      },
      Status::storage, {"model.safetensors.partial", "cannot be written"});
  EXPECT_TRUE(std::filesystem::is_empty(m_dir));
}

TEST_F(SafetensorsTest, weights_that_are_there_are_not_replaced) {
  put(kWeightFile, "mine");
  auto const write = [&] { SafetensorsWriter writer(m_dir, kTensors); };
  expect_error(write, Status::bad_input, {kWeightFile, "is there already"});
  EXPECT_EQ(get(kWeightFile), "mine");
  TensorList const too_much({{"a", ElementType::u8, {std::int64_t{1} << 60}}});
  expect_error([&] { SafetensorsWriter writer(m_dir / "x", too_much); }, Status::bad_input,
               {"the model needs 1152921504606846976 bytes"});
}

}  // namespace
}  // namespace spillway::safetensors_writer_test
