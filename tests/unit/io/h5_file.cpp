#include "io/h5/h5_file.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "io/file/output_file.hpp"
#include "tests/support/hostile_h5.hpp"

namespace spillway::h5_file_test {
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

void write_at(fs::path const& path, std::int64_t offset_bytes, std::span<std::byte const> bytes) {
  auto file = OutputFile::open(path);
  file.write(offset_bytes, bytes);
  file.close();
}

TEST_F(H5FileTest, tells_the_type_and_shape_of_every_dataset) {
  auto const types = {H5Type::f32, H5Type::u8, H5Type::u16, H5Type::u32, H5Type::i64};
  std::int64_t elements = 1;
  for (auto const type : types) {
    auto file = H5File::create(m_dir / "a.h5", Status::storage);
    file.create_dataset("/t", type, std::array<std::int64_t, 2>{++elements, 3});
    file.close();
    auto const info = H5File::open(m_dir / "a.h5").info("/t");
    EXPECT_EQ(info.type, type);
    EXPECT_EQ(info.shape, (std::vector<std::int64_t>{elements, 3}));
  }
}

TEST_F(H5FileTest, values_lie_on_a_page_where_offset_bytes_says_behind_any_user_block) {
  std::vector<float> values(4096);
  std::iota(values.begin(), values.end(), 0.5f);
  for (std::int64_t const user_block_bytes : {0, 4096}) {
    auto file = H5File::create(m_dir / "a.h5", Status::storage, user_block_bytes);
    file.create_dataset("/model/t", H5Type::f32, std::array<std::int64_t, 2>{64, 64});
    auto const offset = file.offset_bytes("/model/t");
    file.close();
    EXPECT_EQ((offset - user_block_bytes) % 4096, 0);
    write_at(m_dir / "a.h5", offset, std::as_bytes(std::span(values)));

    auto const read = H5File::open(m_dir / "a.h5");
    EXPECT_EQ(read.offset_bytes("/model/t"), offset);
    EXPECT_EQ(read.read<float>("/model/t", 4096), values);
    EXPECT_EQ(read.info("/model/t").shape, (std::vector<std::int64_t>{64, 64}));
  }
}

TEST_F(H5FileTest, a_planted_link_is_replaced_and_what_it_names_is_spared) {
  std::ofstream(m_dir / "precious") << "text";
  fs::create_symlink(m_dir / "precious", m_dir / "a.h5");
  H5File::create(m_dir / "a.h5").close();
  EXPECT_FALSE(fs::is_symlink(m_dir / "a.h5"));
  EXPECT_EQ(fs::file_size(m_dir / "precious"), 4u);
}

TEST_F(H5FileTest, links_to_elsewhere_count_as_absent) {
  auto target = H5File::create(m_dir / "target.h5");
  target.create_dataset("/group/t", H5Type::u8, std::array{std::int64_t{4}});
  target.close();
  H5File::create(m_dir / "a.h5").close();
  test::add_links(m_dir / "a.h5");
  auto const read = H5File::open(m_dir / "a.h5");
  EXPECT_EQ(read.children("/"), (std::vector<std::string>{"external", "soft"}));
  for (auto const* name : {"/external", "/soft", "/external/t"}) {
    EXPECT_FALSE(read.exists(name)) << name;
    EXPECT_EQ(error_of([&] { read.info(name); }).status(), Status::damaged) << name;
  }
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
  std::array<std::int64_t, 3> const sizes{3, 10, 11};  // cut within rows
  for (std::size_t shard = 0; shard < sizes.size(); ++shard) {
    auto const name = "shard-" + std::to_string(shard) + ".h5";
    std::array const shape{sizes[shard]};
    auto file = H5File::create(m_dir / "old" / name);
    file.create_dataset("/w", H5Type::f32, shape);
    auto const offset = file.offset_bytes("/w");
    file.close();
    std::vector<float> values(static_cast<std::size_t>(sizes[shard]));
    std::iota(values.begin(), values.end(), shard == 0 ? 0.0f : shard == 1 ? 3.0f : 13.0f);
    write_at(m_dir / "old" / name, offset, std::as_bytes(std::span(values)));
    sources.push_back({name, "/w", sizes[shard]});
  }
  auto whole = H5File::create(m_dir / "old" / "whole.h5");
  whole.create_virtual("/w", H5Type::f32, std::array<std::int64_t, 2>{6, 4}, sources);
  whole.close();
  fs::rename(m_dir / "old", m_dir / "new");

  auto values = H5File::open(m_dir / "new" / "whole.h5").read<float>("/w", 24);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(values[i], static_cast<float>(i));

  fs::remove(m_dir / "new" / "shard-1.h5");
  values = H5File::open(m_dir / "new" / "whole.h5").read<float>("/w", 24);
  for (std::size_t i = 0; i < 24; ++i)
    EXPECT_EQ(std::isnan(values[i]), i >= 3 && i < 13) << i;  // not a plausible zero
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
  auto const expect = [&](auto action, std::string const& what) {
    auto const error = error_of(action);
    EXPECT_EQ(error.status(), Status::damaged);
    EXPECT_EQ(error.what(), (m_dir / "a.h5").string() + ": " + what);
  };
  expect([&] { file.info("/none/deep"); }, "/none/deep: no such dataset");
  expect([&] { file.info("/"); }, "/: not a dataset: not a dataset");
  expect([&] { file.read<float>("/t", 10); }, "/t: has another element type than expected");
  expect([&] { file.read<std::uint8_t>("/t", 9); }, "/t: is larger than expected");
  EXPECT_EQ(error_of([&] { file.text("/t", "unit"); }).status(), Status::damaged);
}

template <class T>
void expect_type(fs::path const& path, H5Type type, std::array<T, 2> const& values) {
  auto file = H5File::create(path);
  file.create_dataset("/t", type, std::array{std::int64_t{2}});
  auto const offset = file.offset_bytes("/t");
  file.close();
  write_at(path, offset, std::as_bytes(std::span(values)));
  auto const read = H5File::open(path);
  EXPECT_EQ(read.info("/t").type, type);
  EXPECT_EQ(read.read<T>("/t", 2), std::vector<T>(values.begin(), values.end()));
}

TEST_F(H5FileTest, values_of_every_type_are_what_lies_in_the_file) {
  expect_type<float>(m_dir / "f32", H5Type::f32, {0.5f, -3.0f});
  expect_type<std::uint8_t>(m_dir / "u8", H5Type::u8, {1, 0xfe});
  expect_type<std::uint16_t>(m_dir / "u16", H5Type::u16, {0x0102, 0xfffe});
  expect_type<std::uint32_t>(m_dir / "u32", H5Type::u32, {0x01020304, 0xfffffffe});
  expect_type<std::int64_t>(m_dir / "i64", H5Type::i64, {0x0102030405060708, -2});
}

TEST_F(H5FileTest, integers_of_a_missing_source_are_zero) {
  auto file = H5File::create(m_dir / "a.h5");
  file.create_virtual("/t", H5Type::u16, std::array{std::int64_t{3}},
                      std::array{H5Source{"none.h5", "/t", 3}});
  file.close();
  EXPECT_EQ(H5File::open(m_dir / "a.h5").read<std::uint16_t>("/t", 3),
            (std::vector<std::uint16_t>{0, 0, 0}));
}

TEST_F(H5FileTest, attributes_of_another_type_or_made_twice_are_named) {
  auto made = H5File::create(m_dir / "a.h5");
  made.create_group("/run");
  made.set_text("/run", "word", "7");
  made.set_integer("/run", "number", 7);
  auto const twice = error_of([&] { made.set_integer("/run", "number", 8); });
  EXPECT_EQ(twice.status(), Status::storage);
  auto const begin = (m_dir / "a.h5").string() + ": /run: ";
  EXPECT_EQ(std::string(twice.what()).find(begin + "an attribute cannot be created"), 0u);
  made.close();
  auto const file = H5File::open(m_dir / "a.h5", Status::bad_input);
  auto const word = error_of([&] { file.integer("/run", "word"); }),
             number = error_of([&] { file.text("/run", "number"); }),
             none = error_of([&] { file.text("/run", "none"); });
  for (auto const& error : {word, number, none}) EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_EQ(word.what(), begin + "attribute word has another type");
  EXPECT_EQ(number.what(), begin + "attribute number is not text");
  EXPECT_EQ(std::string(none.what()).find(begin + "no attribute none"), 0u) << none.what();
  EXPECT_EQ(file.integer("/run", "number"), 7);
}

TEST_F(H5FileTest, one_that_cannot_be_created_says_what_the_system_says) {
  for (auto const status : {Status::storage, Status::bad_input}) {
    auto const error = error_of([&] { H5File::create(m_dir / "none/a.h5", status); });
    EXPECT_EQ(error.status(), status);
    EXPECT_EQ(error.what(),
              (m_dir / "none/a.h5").string() + ": cannot be created: No such file or directory");
  }
}

// By default HDF5 keeps each of these while the file is open, in 16 KiB that no plan knows of.
TEST_F(H5FileTest, many_datasets_take_little_memory_while_a_file_is_written) {
  constexpr int datasets = 1000;
  std::array const shape = {std::int64_t{64}};
  auto file = H5File::create(m_dir / "many.h5", Status::storage);
  auto const before = ::mallinfo2().uordblks;
  if (before == 0) GTEST_SKIP() << "a sanitizer allocates by itself";
  for (int i = 0; i < datasets; ++i) {
    H5Source const source{"shard.h5", "/part", 64};
    file.create_virtual("/group/" + std::to_string(i), H5Type::f32, shape, {&source, 1});
  }
  EXPECT_LT(::mallinfo2().uordblks, before + (std::size_t{1} << 20));
  file.close();
}

}  // namespace
}  // namespace spillway::h5_file_test
