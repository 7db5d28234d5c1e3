// Weights that are written and read back, in one file and in several.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/safetensors/header.hpp"
#include "io/safetensors/reader.hpp"
#include "io/safetensors/weight_index.hpp"
#include "io/safetensors/writer.hpp"
#include "tests/support/names_in.hpp"
#include "tests/unit/io/safetensors_weights.hpp"

namespace spillway::safetensors_test {
namespace {

using test::kTensors, test::SafetensorsTest;

TEST_F(SafetensorsTest, one_file_comes_back_byte_for_byte) {
  SafetensorsWriter writer(m_dir / "new/model", kTensors);
  write_all(writer);
  EXPECT_EQ(test::names_in(m_dir / "new/model"), std::vector<std::string>{kWeightFile});
  SafetensorsReader reader(m_dir / "new/model");
  expect_all(reader, kTensors);
  EXPECT_EQ(reader.files(), 1u);
}

TEST_F(SafetensorsTest, elements_are_aligned_and_so_is_the_end_of_the_header) {
  SafetensorsWriter writer(m_dir, kTensors);
  write_all(writer);
  auto const bytes = get(kWeightFile);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  auto const header = parse_header(
      bytes.substr(8, length), std::ssize(bytes) - 8 - static_cast<std::int64_t>(length), "file");
  for (auto const& [entry, begin, end] : header.tensors)
    EXPECT_EQ(begin % size_bytes(entry.type), 0) << entry.name;
  EXPECT_EQ(header.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
}

TEST_F(SafetensorsTest, several_files_and_their_index_come_back) {
  SafetensorsWriter writer(m_dir, kTensors, 40);
  write_all(writer);
  EXPECT_EQ(
      test::names_in(m_dir),
      (std::vector<std::string>{
          "model-00001-of-00004.safetensors", "model-00002-of-00004.safetensors",
          "model-00003-of-00004.safetensors", "model-00004-of-00004.safetensors", kIndexFile}));
  SafetensorsReader reader(m_dir);
  expect_all(reader, kTensors);
  EXPECT_EQ(reader.files(), 4u);
  EXPECT_NE(get(kIndexFile).find("\"total_size\": 119"), std::string::npos) << get(kIndexFile);
  SafetensorsReader by_index(m_dir / kIndexFile);
  expect_all(by_index, kTensors);
}

TEST_F(SafetensorsTest, bytes_of_several_files_are_those_of_all) {
  SafetensorsWriter writer(m_dir, kTensors, 40);
  write_all(writer);
  std::int64_t bytes = 0;
  for (auto const& name : test::names_in(m_dir))
    if (name != kIndexFile)
      bytes += static_cast<std::int64_t>(std::filesystem::file_size(m_dir / name));
  EXPECT_EQ(SafetensorsReader(m_dir).size_bytes(), bytes);
  EXPECT_EQ(SafetensorsReader(m_dir / kIndexFile).size_bytes(), bytes);
}

TEST_F(SafetensorsTest, files_are_known_by_their_names_and_directories_by_what_is_in_them) {
  std::filesystem::create_directories(m_dir / "empty.safetensors");
  EXPECT_FALSE(is_safetensors(m_dir / "empty.safetensors"));
  EXPECT_FALSE(is_safetensors(m_dir));
  put(kIndexFile, "{}");
  EXPECT_TRUE(is_safetensors(m_dir));
  std::filesystem::remove(m_dir / kIndexFile);
  put(kWeightFile, "");
  EXPECT_TRUE(is_safetensors(m_dir));
  for (auto const* name : {"a.safetensors", "a.safetensors.index.json"})
    EXPECT_TRUE(is_safetensors(m_dir / name)) << name;
  for (auto const* name : {"a.json", "safetensors", "a.safetensors.json", "a.h5"})
    EXPECT_FALSE(is_safetensors(m_dir / name)) << name;
}

TEST_F(SafetensorsTest, files_are_full_where_the_next_tensor_does_not_fit) {
  TensorList const tensors({{"a", ElementType::u8, {6}},
                            {"b", ElementType::f32, {1}},
                            {"large", ElementType::u8, {11}},
                            {"c", ElementType::u8, {10}}});
  auto const shards = plan_shards(tensors, 10);
  ASSERT_EQ(shards.size(), 3u);
  EXPECT_EQ(shards[0].tensors, (std::vector<std::size_t>{1, 0})) << "larger elements first";
  EXPECT_EQ(shards[1].tensors, std::vector<std::size_t>{2});
  EXPECT_EQ(shards[2].file, "model-00003-of-00003.safetensors");
  EXPECT_EQ(plan_shards(tensors, 31).size(), 1u);
  EXPECT_EQ(plan_shards(TensorList(), 31).size(), 1u);
}

TEST_F(SafetensorsTest, ranges_are_written_and_read_in_any_order) {
  TensorList const tensors({{"a", ElementType::bf16, {100}}, {"b", ElementType::f32, {50}}});
  SafetensorsWriter writer(m_dir, tensors, 200);
  for (std::int64_t const first : {90, 10, 50, 0, 70, 30, 20, 80, 60, 40}) {
    auto const a = bytes_of(tensors[0]), b = bytes_of(tensors[1]);
    auto const at = static_cast<std::size_t>(first);
    writer.write(0, first, std::span(a).subspan(2 * at, 20));
    writer.write(1, first / 2, std::span(b).subspan(2 * at, 20));
  }
  writer.finish();
  SafetensorsReader reader(m_dir);
  expect_all(reader, tensors);
  std::array<std::byte, 12> some{};
  reader.read(1, 7, some);
  auto const expected = bytes_of(tensors[1]);
  EXPECT_TRUE(std::ranges::equal(some, std::span(expected).subspan(28, 12)));
}

// Five gigabytes of which the file system stores a few bytes.
TEST_F(SafetensorsTest, places_beyond_four_gigabytes_are_found) {
  constexpr std::int64_t large = (std::int64_t{5} << 30) + 3;
  SafetensorsHeader const header{placed(std::vector<TensorEntry>{
                                     {"large", ElementType::u8, {large}},
                                     {"last", ElementType::u8, {2}},
                                 }),
                                 {}};
  auto const begin = header_bytes(header);
  put(kWeightFile, begin);
  std::filesystem::resize_file(m_dir / kWeightFile, begin.size() + large);
  std::ofstream(m_dir / kWeightFile, std::ios::app) << "xy";
  SafetensorsReader reader(m_dir);
  EXPECT_EQ(element_count(reader.tensors()[0]), large);
  std::array<std::byte, 2> end{};
  reader.read(1, 0, end);
  EXPECT_EQ(end, (std::array{std::byte{'x'}, std::byte{'y'}}));
  reader.read(0, large - 2, end);
  EXPECT_EQ(end, (std::array{std::byte{0}, std::byte{0}}));
}

}  // namespace
}  // namespace spillway::safetensors_test
