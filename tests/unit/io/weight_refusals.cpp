// What is said of tensors that are not as they are wanted, and what an element is.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>

#include "io/safetensors/reader.hpp"
#include "io/safetensors/weight_index.hpp"
#include "io/safetensors/writer.hpp"
#include "io/tensors/convert.hpp"
#include "io/tensors/copy_tensors.hpp"
#include "io/tensors/finite.hpp"
#include "tests/support/refusals.hpp"
#include "tests/unit/io/safetensors_case.hpp"

namespace spillway::test::weight_refusals_test {
namespace {

class WeightRefusals : public SafetensorsCase {
 protected:
  Refusals m_said{m_dir};
};

TEST_F(WeightRefusals, name_the_tensor_what_it_is_and_what_it_should_be) {
  TensorList const tensors({{"a", ElementType::f32, {2, 3}}, {"ids", ElementType::i64, {4}}});
  {
    SafetensorsWriter writer(m_dir / "from", tensors);
    std::array<std::byte, 32> const bytes{};
    writer.write(0, 0, std::span(bytes).first(8));
    m_said.add("elements twice", [&] { writer.write(0, 1, std::span(bytes).first(4)); });
    m_said.add("elements beyond the end", [&] { writer.write(0, 5, std::span(bytes).first(8)); });
    m_said.add("half an element", [&] { writer.write(1, 0, std::span(bytes).first(12)); });
    m_said.add("floats into whole numbers", [&] {
      write_floats(writer, 1, 0, std::array{1.0f, 2.0f});
    });
    m_said.add("elements missing", [&] { writer.finish(); });
    writer.write(0, 2, std::span(bytes).first(16));
    writer.write(1, 0, bytes);
    writer.finish();
  }
  m_said.add("weights that are there", [&] { SafetensorsWriter writer(m_dir / "from", tensors); });
  put("from/model.safetensors.index.json", "{}");
  std::filesystem::remove(m_dir / "from/model.safetensors");
  m_said.add("an index that is there", [&] { SafetensorsWriter writer(m_dir / "from", tensors); });
  {
    SafetensorsWriter writer(m_dir / "to", tensors);
    writer.write(0, 0, std::array<std::byte, 24>{});
    writer.write(1, 0, std::array<std::byte, 32>{});
    writer.finish();
  }
  SafetensorsReader source(m_dir / "to");
  std::array<float, 4> four{};
  m_said.add("a part of the floats", [&] { read_floats(source, 0, 0, four); });
  m_said.add("whole numbers as floats", [&] { read_floats(source, 1, 0, four); });
  for (auto const& wanted :
       {TensorEntry{"b", ElementType::f32, {1}}, TensorEntry{"a", ElementType::f32, {3, 2}},
        TensorEntry{"a", ElementType::f32, {}}, TensorEntry{"ids", ElementType::f32, {4}},
        TensorEntry{"a", ElementType::u8, {2, 3}}}) {
    SafetensorsWriter sink(m_dir / "sink", TensorList({wanted}));
    m_said.add("a copy", [&] { copy_tensors(source, sink, [](auto const&, auto const&) {}); });
  }
  m_said.add("values", [] { require_finite("/from", "a", 9, {3, 5, 7}); });
  m_said.add("two of a name", [] {
    TensorList(
        {{"a", ElementType::f32, {}}, {"b", ElementType::f32, {}}, {"a", ElementType::u8, {}}});
  });
  m_said.add("counts of no floats", [&] { count_values(four, ElementType::i16); });
  m_said.expect_frozen("weights");
}

TEST(ElementTypes, are_known_by_the_names_and_sizes_of_the_format) {
  std::map<std::string_view, std::int64_t> const sizes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"F8_E8M0", 1},
      {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},     {"I32", 4},
      {"F32", 4},  {"U64", 8}, {"I64", 8}, {"F64", 8},     {"C64", 8}};
  for (auto const& [word, bytes] : sizes) {
    auto const type = element_type(word);
    ASSERT_TRUE(type) << word;
    EXPECT_EQ(name(*type), word);
    EXPECT_EQ(size_bytes(*type), bytes) << word;
    EXPECT_EQ(is_float(*type), word == "F16" || word == "BF16" || word == "F32") << word;
  }
  EXPECT_EQ(element_type("f32"), std::nullopt);
  TensorEntry const entry{"a", ElementType::f64, {3, 5, 7}};
  EXPECT_EQ(element_count(entry), 105);
  EXPECT_EQ(size_bytes(entry), 840);
  EXPECT_EQ(size_bytes(TensorList({entry, {"b", ElementType::bf16, {11}}})), 862);
}

TEST(Conversions, take_as_many_bytes_as_floats_have_wherever_they_lie) {
  std::array<std::byte, 9> bytes{};
  std::array<float, 2> floats{};
  auto const all = std::span(bytes);
  for (auto const type : {ElementType::f16, ElementType::bf16, ElementType::f32}) {
    std::array const values{1.5f, -2.0f};
    auto const odd = all.subspan(1, type == ElementType::f32 ? 8 : 4);
    from_floats(type, values, odd);
    to_floats(type, odd, floats);
    EXPECT_EQ(floats, values) << name(type);
    for (auto const wrong : {all.first(odd.size() - 1), all.first(odd.size() + 1)}) {
      EXPECT_THROW(to_floats(type, wrong, floats), std::logic_error) << name(type);
      EXPECT_THROW(from_floats(type, floats, wrong), std::logic_error) << name(type);
    }
  }
  EXPECT_THROW(to_floats(ElementType::i32, all.first(8), floats), std::logic_error);
  EXPECT_THROW(from_floats(ElementType::u16, floats, all.first(4)), std::logic_error);
}

TEST(ValueCountsTest, add_each_to_its_own) {
  ValueCounts sum{1, 20, 300};
  sum += {4000, 50'000, 600'000};
  EXPECT_EQ(sum, (ValueCounts{4001, 50'020, 600'300}));
}

TEST(WeightIndexTest, is_written_as_others_write_it) {
  WeightIndex const index{{{"b", "2.safetensors"}, {"a", "1.safetensors"}}, 123};
  auto const text = index_text(index);
  EXPECT_EQ(text,
            "{\n  \"metadata\": {\n    \"total_size\": 123\n  },\n  \"weight_map\": {\n"
            "    \"a\": \"1.safetensors\",\n    \"b\": \"2.safetensors\"\n  }\n}\n");
  EXPECT_EQ(parse_index(text, "index").files, index.files);
  EXPECT_EQ(shard_file(3, 12), "model-00003-of-00012.safetensors");
}

}  // namespace
}  // namespace spillway::test::weight_refusals_test
