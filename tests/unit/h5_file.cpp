#include "io/h5/h5_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "io/h5/flat_range.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

class H5FileTest : public testing::Test {
 protected:
  H5FileTest() { fs::create_directories(m_dir); }
  ~H5FileTest() override { fs::remove_all(m_dir); }

  fs::path m_dir =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

template <class F>
Error error_of(F action) {
  try {
    action();
  } catch (Error const& error) {
    return error;
  }
  return Error(Status::done, "no error");
}

TEST(FlatRange, boxes_cover_any_range_in_order_and_in_few_pieces) {
  std::array<std::int64_t, 3> const shape{3, 4, 5};
  for (std::int64_t first = 0; first < 60; ++first) {
    for (std::int64_t end = first + 1; end <= 60; ++end) {
      std::int64_t at = first, boxes = 0;
      for (; at < end; ++boxes) {
        auto const box = leading_box(shape, at, end - at);
        EXPECT_EQ((box.start[0] * 4 + box.start[1]) * 5 + box.start[2], at);
        EXPECT_EQ(box.count[0] * box.count[1] * box.count[2], box.elements);
        auto const last =
            ((box.start[0] + box.count[0] - 1) * 4 + box.start[1] + box.count[1] - 1) * 5 +
            box.start[2] + box.count[2] - 1;
        EXPECT_EQ(last, at + box.elements - 1);  // contiguous: nothing is skipped
        at += box.elements;
      }
      EXPECT_EQ(at, end);
      EXPECT_LE(boxes, 5);
    }
  }
}

TEST_F(H5FileTest, a_tensor_streams_through_a_small_buffer) {
  std::array<std::int64_t, 3> const shape{3, 4, 5};
  std::vector<float> values(60), back(60);
  std::iota(values.begin(), values.end(), 0.5f);
  auto file = H5File::create(m_dir / "a.h5");
  file.create_dataset("/model/w", H5Type::f32, shape);
  for (std::size_t at = 0; at < 60; at += 7) {
    auto const piece =
        std::span<float const>(values).subspan(at, std::min<std::size_t>(7, 60 - at));
    file.write("/model/w", static_cast<std::int64_t>(at), piece);
  }
  file.close();

  auto const read = H5File::open(m_dir / "a.h5");
  for (std::size_t at = 0; at < 60; at += 11) {
    auto const piece = std::span(back).subspan(at, std::min<std::size_t>(11, 60 - at));
    read.read("/model/w", static_cast<std::int64_t>(at), piece);
  }
  EXPECT_EQ(back, values);
  EXPECT_EQ(read.info("/model/w").shape, std::vector<std::int64_t>(shape.begin(), shape.end()));
}

TEST_F(H5FileTest, a_dataset_lies_on_a_page_where_offset_bytes_says) {
  std::vector<std::uint16_t> values(4096);
  std::iota(values.begin(), values.end(), std::uint16_t{7});
  auto file = H5File::create(m_dir / "a.h5");
  file.create_dataset("/t", H5Type::u16, std::array{std::int64_t{4096}});
  file.write<std::uint16_t>("/t", 0, values);
  auto const offset = file.offset_bytes("/t");
  file.close();

  EXPECT_EQ(offset % 4096, 0);
  std::ifstream raw(m_dir / "a.h5", std::ios::binary);
  raw.seekg(offset);
  std::vector<std::uint16_t> back(4096);
  raw.read(reinterpret_cast<char*>(back.data()), 8192);
  EXPECT_EQ(back, values);
}

TEST_F(H5FileTest, attributes_come_back_even_long_ones) {
  std::string const text(100'000, 'x');
  auto file = H5File::create(m_dir / "a.h5");
  file.create_group("/run/deep");
  file.set_text("/run", "text", text);
  file.set_text("/run", "empty", "");
  file.set_integer("/run", "integer", -(1ll << 60));
  file.set_integer("/run/deep", "integer", 3);
  file.close();

  auto const read = H5File::open(m_dir / "a.h5");
  EXPECT_EQ(read.text("/run", "text"), text);
  EXPECT_EQ(read.text("/run", "empty"), "");
  EXPECT_EQ(read.integer("/run", "integer"), -(1ll << 60));
  EXPECT_EQ(read.integer("/run/deep", "integer"), 3);
  EXPECT_EQ(read.attributes("/run"), (std::vector<std::string>{"empty", "integer", "text"}));
  EXPECT_FALSE(read.has_attribute("/run", "other"));
}

TEST_F(H5FileTest, a_virtual_dataset_joins_shards_and_moves_with_its_directory) {
  fs::create_directory(m_dir / "old");
  std::vector<H5Source> sources;
  for (std::int64_t shard = 0; shard < 3; ++shard) {
    auto const name = "shard-" + std::to_string(shard) + ".h5";
    std::array<std::int64_t, 2> const shape{shard + 1, 4};
    auto file = H5File::create(m_dir / "old" / name);
    file.create_dataset("/w", H5Type::f32, shape);
    std::vector<float> const values(static_cast<std::size_t>(4 * (shard + 1)), float(shard));
    file.write<float>("/w", 0, values);
    file.close();
    sources.push_back({name, "/w", shard + 1});
  }
  auto whole = H5File::create(m_dir / "old" / "whole.h5");
  whole.create_virtual("/w", H5Type::f32, std::array<std::int64_t, 2>{6, 4}, sources);
  whole.close();
  fs::rename(m_dir / "old", m_dir / "new");

  std::vector<float> values(24);
  H5File::open(m_dir / "new" / "whole.h5").read<float>("/w", 0, values);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(values[i], i < 4 ? 0 : i < 12 ? 1 : 2) << i;

  fs::remove(m_dir / "new" / "shard-1.h5");
  H5File::open(m_dir / "new" / "whole.h5").read<float>("/w", 0, values);
  EXPECT_TRUE(std::isnan(values[4]));  // not a plausible zero
}

TEST_F(H5FileTest, a_foreign_file_has_the_status_of_the_caller) {
  auto const path = m_dir / "text.h5";
  std::ofstream(path) << "not HDF5, but long enough to be looked at";
  auto const error = error_of([&] { H5File::open(path, Status::bad_input); });
  EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_EQ(error.what(), path.string() + ": not an HDF5 file");
  EXPECT_EQ(error_of([&] { H5File::open(path); }).status(), Status::damaged);
  EXPECT_EQ(error_of([&] { H5File::open(m_dir / "none.h5"); }).status(), Status::bad_input);
}

TEST_F(H5FileTest, a_file_cut_short_is_damaged) {
  auto file = H5File::create(m_dir / "a.h5");
  file.create_dataset("/t", H5Type::u8, std::array{std::int64_t{100'000}});
  file.close();
  for (std::uintmax_t const size : {fs::file_size(m_dir / "a.h5") - 1, std::uintmax_t{60}}) {
    fs::resize_file(m_dir / "a.h5", size);
    auto const error = error_of([&] { H5File::open(m_dir / "a.h5", Status::bad_input); });
    EXPECT_EQ(error.status(), Status::damaged) << size;
    EXPECT_NE(std::string(error.what()).find("a.h5: damaged HDF5 file: "), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

TEST_F(H5FileTest, what_is_missing_or_of_another_kind_is_named) {
  auto made = H5File::create(m_dir / "a.h5");
  made.create_dataset("/t", H5Type::u8, std::array{std::int64_t{10}});
  made.close();
  auto const file = H5File::open(m_dir / "a.h5");
  std::vector<std::uint8_t> bytes(11);
  std::vector<float> floats(1);
  auto const expect = [&](auto action, std::string const& what) {
    auto const error = error_of(action);
    EXPECT_EQ(error.status(), Status::damaged);
    EXPECT_EQ(error.what(), (m_dir / "a.h5").string() + ": " + what);
  };
  expect([&] { file.info("/none/deep"); }, "/none/deep: no such dataset");
  expect([&] { file.info("/"); }, "/: not a dataset: not a dataset");
  expect([&] { file.read<float>("/t", 0, floats); }, "/t: has another element type than expected");
  expect([&] { file.read<std::uint8_t>("/t", 0, bytes); }, "/t: is smaller than expected");
  EXPECT_EQ(error_of([&] { file.text("/t", "unit"); }).status(), Status::damaged);
}

}  // namespace
}  // namespace spillway
