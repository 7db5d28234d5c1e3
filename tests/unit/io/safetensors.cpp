// Weights that are written and read back, in one file and in several, as they are or converted.

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>

#include "base/f16.hpp"
#include "io/safetensors/header.hpp"
#include "io/safetensors/reader.hpp"
#include "io/safetensors/weight_index.hpp"
#include "io/safetensors/writer.hpp"
#include "io/safetensors/written_ranges.hpp"
#include "io/tensors/convert.hpp"
#include "io/tensors/copy_tensors.hpp"
#include "io/tensors/finite.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/resource_limit.hpp"
#include "tests/unit/io/safetensors_case.hpp"

namespace spillway::safetensors_test {
namespace {

class SafetensorsTest : public test::SafetensorsCase {
 protected:
  // All bytes of a tensor, drawn from its name.
  static std::vector<std::byte> bytes_of(TensorEntry const& entry) {
    std::seed_seq seed(entry.name.begin(), entry.name.end());
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(static_cast<std::size_t>(size_bytes(entry)));
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
  }

  static void write_all(TensorSink& sink) {
    for (std::size_t i = 0; i < sink.tensors().size(); ++i)
      sink.write(i, 0, bytes_of(sink.tensors()[i]));
    sink.finish();
  }

  static void expect_all(TensorSource& source, TensorList const& expected) {
    ASSERT_EQ(source.tensors().size(), expected.size());
    for (auto const& entry : expected) {
      auto const number = source.tensors().find(entry.name);
      ASSERT_TRUE(number) << entry.name;
      EXPECT_EQ(source.tensors()[*number], entry);
      auto bytes = bytes_of(entry);
      std::vector<std::byte> found(bytes.size());
      source.read(*number, 0, found);
      EXPECT_EQ(found, bytes) << entry.name;
    }
  }
};

TensorList const kTensors({{"h.0.weight", ElementType::bf16, {3, 5}},
                           {"h.0.\"odd\" \u00e4/name", ElementType::f32, {7}},
                           {"mask", ElementType::boolean, {3}},
                           {"ids", ElementType::i64, {2, 2}},
                           {"empty", ElementType::f16, {0, 4}},
                           {"scalar", ElementType::f64, {}},
                           {"half", ElementType::f16, {9}}});

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

// Gives every element of `type` from a float, and every float back.
TEST_F(SafetensorsTest, floats_are_written_and_read_in_each_type) {
  std::vector<float> values(70000);  // more than is converted at a time
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = to_float(f16{std::uint16_t(i)});
  auto const count = std::ssize(values);
  TensorList const tensors({{"f32", ElementType::f32, {count}},
                            {"f16", ElementType::f16, {count}},
                            {"bf16", ElementType::bf16, {count}},
                            {"ids", ElementType::i32, {count}}});
  SafetensorsWriter writer(m_dir, tensors);
  for (std::size_t i = 0; i < 3; ++i) write_floats(writer, i, 0, values);
  writer.write(3, 0, std::as_bytes(std::span(values)));
  EXPECT_THROW(write_floats(writer, 3, 0, values), std::logic_error);
  writer.finish();
  SafetensorsReader reader(m_dir);
  for (auto const& [name, rounded] : {std::pair(
                                          "f32", +[](float x) { return x; }),
                                      std::pair(
                                          "f16", +[](float x) { return to_float(to_f16(x)); }),
                                      std::pair(
                                          "bf16", +[](float x) { return to_float(to_bf16(x)); })}) {
    std::vector<float> found(values.size() - 3);
    read_floats(reader, *reader.tensors().find(name), 3, found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i]),
                std::bit_cast<std::uint32_t>(rounded(values[i + 3])))
          << name << " " << i;
    }
  }
  expect_error([&] { read_floats(reader, *reader.tensors().find("ids"), 0, values); },
               Status::bad_input, {"ids: is of I32"});
}

void not_told(TensorEntry const&, ValueCounts const&) {}

// NaNs, infinities and values that a type cannot hold, in the last tile of a few.
TEST_F(SafetensorsTest, a_copy_tells_what_became_of_the_values) {
  constexpr std::size_t count = 2'500'001;
  std::vector<float> values(count, 0.5f);
  auto const nan = std::numeric_limits<float>::quiet_NaN();
  auto const infinite = std::numeric_limits<float>::infinity();
  std::ranges::copy(std::vector{nan, -infinite, 65504.0f, 65520.0f, -3e38f, 3.4e38f, 1e-8f, 0.0f},
                    values.end() - 8);
  {
    SafetensorsWriter writer(m_dir / "from", TensorList({{"a", ElementType::f32, {count}},
                                                         {"ids", ElementType::i64, {3}}}));
    write_floats(writer, 0, 0, values);
    writer.write(1, 0, std::vector<std::byte>(24));
    writer.finish();
  }
  SafetensorsReader source(m_dir / "from");
  for (auto const& [type, expected] : {std::pair(ElementType::f32, ValueCounts{2, 0, 0}),
                                       std::pair(ElementType::bf16, ValueCounts{2, 1, 0}),
                                       std::pair(ElementType::f16, ValueCounts{2, 3, 1})}) {
    SafetensorsWriter sink(m_dir / name(type),
                           TensorList({{"a", type, {count}}, {"ids", ElementType::i64, {3}}}));
    std::map<std::string, ValueCounts> told;
    copy_tensors(source, sink, [&](TensorEntry const& tensor, ValueCounts const& counts) {
      told[tensor.name] = counts;
    });
    EXPECT_EQ(told, (std::map<std::string, ValueCounts>{{"a", expected}})) << name(type);
  }
}

TEST_F(SafetensorsTest, values_that_are_not_finite_are_named) {
  EXPECT_NO_THROW(require_finite("dir", "a", 9, {0, 2, 3}));
  expect_error(
      [] {
        require_finite("dir", "a", 9, {3, 0, 0});
      },
      Status::damaged, {"dir: a: 3 of 9 values are not finite"});
}

TEST_F(SafetensorsTest, a_copy_is_identical_where_the_type_is_and_else_rounded) {
  constexpr std::int64_t count = 3'000'001;  // several tiles
  TensorList const tensors({{"a", ElementType::bf16, {count}}, {"ids", ElementType::i64, {3}}});
  {
    SafetensorsWriter writer(m_dir / "from", tensors);
    write_all(writer);
  }
  SafetensorsReader source(m_dir / "from");
  SafetensorsWriter same(m_dir / "same", tensors);
  copy_tensors(source, same, not_told);
  same.finish();
  SafetensorsReader again(m_dir / "same");
  expect_all(again, tensors);
  SafetensorsWriter other(m_dir / "other", TensorList({{"a", ElementType::f16, {count}}}));
  copy_tensors(source, other, not_told);
  other.finish();
  SafetensorsReader converted(m_dir / "other");
  std::vector<float> before(count), after(count);
  read_floats(source, *source.tensors().find("a"), 0, before);
  read_floats(converted, 0, 0, after);
  for (std::size_t i = 0; i < before.size(); ++i)
    ASSERT_EQ(to_f16(before[i]).bits, to_f16(after[i]).bits) << i;
}

// More than is copied at a time, of elements that are wider and narrower than floats.
TEST_F(SafetensorsTest, a_copy_of_what_is_no_float_is_whole_in_any_order_and_told_of_nobody) {
  std::vector<TensorEntry> entries = {{"ids", ElementType::i64, {600'001}},
                                      {"half", ElementType::f16, {5}},
                                      {"mask", ElementType::u8, {1'100'003}}};
  {
    SafetensorsWriter writer(m_dir / "from", TensorList(entries));
    write_all(writer);
  }
  SafetensorsReader source(m_dir / "from");
  std::ranges::reverse(entries);
  SafetensorsWriter sink(m_dir / "to", TensorList(entries));
  std::vector<std::string> told;
  copy_tensors(source, sink,
               [&](TensorEntry const& tensor, auto const&) { told.push_back(tensor.name); });
  sink.finish();
  EXPECT_EQ(told, std::vector<std::string>{"half"});
  SafetensorsReader copy(m_dir / "to");
  expect_all(copy, TensorList(entries));
}

TEST_F(SafetensorsTest, a_copy_of_what_is_not_there_is_refused_by_name) {
  {
    SafetensorsWriter writer(m_dir / "from", kTensors);
    write_all(writer);
  }
  SafetensorsReader source(m_dir / "from");
  for (auto const& [wanted, reason] :
       {std::pair(TensorEntry{"none", ElementType::f32, {1}}, "none: is not there"),
        std::pair(TensorEntry{"half", ElementType::f16, {3, 3}}, "half: is [9] there, and [3, 3]"),
        std::pair(TensorEntry{"ids", ElementType::f32, {2, 2}}, "ids: is of I64, which does not"),
        std::pair(TensorEntry{"half", ElementType::u8, {9}}, "half: is of F16, which does not")}) {
    SafetensorsWriter sink(m_dir / "to", TensorList({wanted}));
    expect_error([&] { copy_tensors(source, sink, not_told); }, Status::bad_input,
                 {"from", reason});
  }
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
