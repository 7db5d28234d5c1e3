// Weights that are converted, and copies of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/bf16.hpp"
#include "base/f16.hpp"
#include "io/safetensors/reader.hpp"
#include "io/safetensors/writer.hpp"
#include "io/tensors/convert.hpp"
#include "io/tensors/copy_tensors.hpp"
#include "io/tensors/finite.hpp"
#include "tests/unit/io/safetensors_weights.hpp"

namespace spillway::safetensors_copies_test {
namespace {

using test::kTensors, test::SafetensorsTest;

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

}  // namespace
}  // namespace spillway::safetensors_copies_test
