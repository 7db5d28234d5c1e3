// Files that no writer writes, that were cut short, or that somebody made to do harm.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <utility>
#include <vector>

#include "io/safetensors/header.hpp"
#include "io/safetensors/reader.hpp"
#include "io/safetensors/weight_index.hpp"
#include "tests/support/refusals.hpp"
#include "tests/unit/io/safetensors_case.hpp"

namespace spillway::safetensors_hostile_test {
namespace {

using test::safetensors_bytes;

class SafetensorsHostile : public test::SafetensorsCase {
 protected:
  void TearDown() override {
    auto const name = testing::UnitTest::GetInstance()->current_test_info()->name();
    if (m_said.text().empty()) return;
    m_said.expect_frozen(name);
  }
  void expect_refused(Status status, std::initializer_list<std::string> words) const {
    expect_error([&] { SafetensorsReader const reader(m_dir); }, status, words);
  }
  // The whole line is compared, too.
  void expect_line(Status status, std::initializer_list<std::string> words) {
    expect_refused(status, words);
    m_said.add(*words.begin(), [&] { SafetensorsReader const reader(m_dir); });
  }

  test::Refusals m_said{m_dir};
};

struct HeaderCase {
  std::string json;
  std::int64_t data_bytes;
  std::string tensor, reason;
  Status status = Status::damaged;
};

std::vector<HeaderCase> header_cases() {
  std::string const a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  auto const one = [](std::string const& fields) { return R"({"t.w":{)" + fields + "}}"; };
  return {
      {"{" + a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12, "b",
       "overlaps a"},
      {"{" + a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, "b", "overlaps a"},
      {"{" + a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[12,20]}})", 20, "b",
       "4 bytes before it belong to no tensor"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])"), 12, "t.w", "4 bytes before"},
      {"{" + a + "}", 9, "file", "1 bytes at its end"},
      {"{}", 1, "file", "1 bytes at its end"},
      {"{" + a + "}", 7, "a", "ends 1 bytes beyond the end"},
      {"{" + a + "," + a + "}", 8, "a", "named twice"},
      {one(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), 8, "t.w",
       "has 8 bytes, but [3] of F32 are 12"},
      {one(R"("dtype":"F32","shape":[1,2,3,4,5,6,7,8,9],"data_offsets":[0,8])"), 8, "t.w",
       "[1, 2, 3, 4, 5, 6, 7, 8, ...] of F32"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), 8, "t.w", "ends before"},
      {one(R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0])"), 0, "t.w",
       "more elements than 63 bits count"},
      {one(R"("dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0])"), 0, "t.w",
       "more elements than 63 bits count"},
      {one(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), 8, "t.w", "a negative number"},
      {one(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), 8, "t.w", "not whole"},
      {one(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8])"), 8, "t.w",
       "impossible"},
      {one(R"("dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,8])"), 8, "t.w",
       "too large"},
      {one(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"), 8, "t.w", "a list"},
      {one(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"), 8, "t.w", "a number"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0])"), 8, "t.w", "not two numbers"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"), 8, "t.w", "not two numbers"},
      {one(R"("dtype":["F32"],"shape":[2],"data_offsets":[0,8])"), 8, "t.w", "a list"},
      {one(R"("dtype":null,"shape":[2],"data_offsets":[0,8])"), 8, "t.w", "null"},
      {one(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])"), 8, "t.w",
       "has its dtype twice"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1)"), 8, "t.w", "more than dtype"},
      {one(R"("shape":[2],"data_offsets":[0,8])"), 8, "t.w", "has no dtype"},
      {one(R"("dtype":"F32","data_offsets":[0,4])"), 4, "t.w", "has no shape"},
      {one(R"("dtype":"F32","shape":[2])"), 8, "t.w", "has no data_offsets"},
      {one(R"("dtype":"F4","shape":[2],"data_offsets":[0,1])"), 1, "t.w", "is of F4, which",
       Status::bad_input},
      {one(R"("dtype":"\n","shape":[2],"data_offsets":[0,1])"), 1, "t.w", "an impossible dtype",
       Status::bad_input},
      {R"({"t.w":7})", 0, "t.w", "a number"},
      {R"({"t.w":true})", 0, "t.w", "true or false"},
      {R"({"__metadata__":{"format":1}})", 0, "__metadata__", "a number"},
      {R"({"__metadata__":{"x":{}}})", 0, "__metadata__", "an object"},
      {R"({"__metadata__":{"x":"1","x":"2"}})", 0, "__metadata__", "a key twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "__metadata__", "named twice"},
      {R"({"":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, "file", "impossible name"},
      {R"({"a\nb":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, "file",
       "impossible name"},
      {R"({")" + std::string(1025, 'x') + R"(":{}})", 0, "file", "impossible name"},
      {"[]", 0, "file", "a list"},
      {"7", 0, "file", "a number"},
      {"", 0, "file", "not JSON at byte"},
      {"{" + a, 8, "file", "not JSON at byte"},
      {"{" + a + "}{}", 8, "file", "not JSON at byte"},
      {"{\"\xff\":{}}", 8, "file", "not JSON at byte"},
  };
}

TEST_F(SafetensorsHostile, headers_are_refused_by_tensor_and_reason) {
  for (auto const& [json, data_bytes, tensor, reason, status] : header_cases()) {
    SCOPED_TRACE(json.substr(0, 100));
    expect_error([&] { parse_header(json, data_bytes, "file"); }, status,
                 {"file: ", tensor, reason});
    m_said.add(reason, [&] { parse_header(json, data_bytes, "file"); });
  }
}

TEST_F(SafetensorsHostile, what_looks_odd_and_is_sound_is_read) {
  auto const header =
      parse_header(R"({"z":{"data_offsets":[4,4],"shape":[0,9223372036854775807],"dtype":"F32"},)"
                   R"("scalar":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                   R"("__metadata__":{"a":"1"}}   )",
                   4, "file");
  ASSERT_EQ(header.tensors.size(), 2u);
  EXPECT_EQ(header.tensors[0].entry, (TensorEntry{"scalar", ElementType::f32, {}}));
  EXPECT_EQ(header.metadata.at("a"), "1");
  EXPECT_TRUE(parse_header("{}", 0, "file").tensors.empty());
}

std::string const kSound = safetensors_bytes(
    R"({"wte.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", std::string(8, 'x'));

TEST_F(SafetensorsHostile, a_file_that_is_cut_short_anywhere_is_refused) {
  put(kWeightFile, kSound);
  EXPECT_NO_THROW(SafetensorsReader(m_dir / kWeightFile));
  for (std::size_t bytes = 0; bytes < kSound.size(); ++bytes) {
    put(kWeightFile, kSound.substr(0, bytes));
    expect_refused(bytes < 9 ? Status::bad_input : Status::damaged, {kWeightFile});
  }
  expect_refused(Status::damaged, {"wte.weight", "ends 1 bytes beyond the end of the file"});
}

TEST_F(SafetensorsHostile, other_files_are_no_safetensors_files) {
  for (auto const& text : {std::string(), std::string("\x89HDF\r\n\x1a\n and more"),
                           std::string(64, '\0'), std::string(64, '\xff')}) {
    put(kWeightFile, text);
    expect_line(Status::bad_input, {kWeightFile, "is no safetensors file"});
  }
  put(kWeightFile, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  expect_line(Status::bad_input, {kWeightFile, "is a pointer of Git LFS"});
  std::filesystem::remove(m_dir / kWeightFile);
  expect_line(Status::bad_input, {"has neither model.safetensors nor"});
  for (auto const* name : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    put(name, "PK");
    expect_line(Status::bad_input, {"has neither model.safetensors nor", "save_pretrained"});
    std::filesystem::remove(m_dir / name);
  }
}

TEST_F(SafetensorsHostile, a_header_of_100_megabytes_is_refused_before_it_is_read) {
  auto bytes = safetensors_bytes("{", "");
  bytes[3] = 6;  // a length of 6 * 2^24 + 1
  put(kWeightFile, bytes);
  std::filesystem::resize_file(m_dir / kWeightFile, 100 << 20);
  expect_line(Status::bad_input, {kWeightFile, "a header of 100663297 bytes", "33554432"});
  put(kIndexFile, "{");
  std::filesystem::resize_file(m_dir / kIndexFile, 100 << 20);
  std::filesystem::remove(m_dir / kWeightFile);
  expect_line(Status::damaged, {kIndexFile, "104857600 bytes"});
}

// Without tensors, and with a text as long as one may be.
TEST_F(SafetensorsHostile, a_file_may_end_with_its_header_and_a_header_fill_what_is_read) {
  for (std::int64_t const bytes : {std::int64_t{2}, kMostHeaderBytes}) {
    auto text = std::string("{}");
    text.resize(static_cast<std::size_t>(bytes), ' ');
    put(kWeightFile, safetensors_bytes(text, ""));
    SafetensorsReader const reader(m_dir);
    EXPECT_EQ(reader.tensors().size(), 0u);
    EXPECT_EQ(reader.size_bytes(), 8 + bytes);
  }
  put(kWeightFile, safetensors_bytes("{}" + std::string(kMostHeaderBytes - 1, ' '), ""));
  expect_refused(Status::bad_input, {kWeightFile, "a header of 33554433 bytes"});
}

TEST_F(SafetensorsHostile, names_may_be_as_long_as_file_systems_and_messages_bear) {
  auto const tensor = [](std::size_t bytes) {
    return R"({")" + std::string(bytes, 'x') +
           R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  };
  EXPECT_EQ(parse_header(tensor(1024), 1, "file").tensors.size(), 1u);
  expect_error([&] { parse_header(tensor(1025), 1, "file"); }, Status::damaged,
               {"file: a tensor has an impossible name"});
  auto const index = [](std::size_t bytes) {
    return R"({"weight_map":{"a":")" + std::string(bytes, 'f') + R"("}})";
  };
  EXPECT_EQ(parse_index(index(255), "index").files.at("a"), std::string(255, 'f'));
  expect_error([&] { parse_index(index(256), "index"); }, Status::damaged,
               {"index: a: is in no file of this directory"});
}

std::int64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * std::int64_t{1024};
}

TEST_F(SafetensorsHostile, the_longest_json_is_refused_in_bounded_memory) {
  std::string strings = R"({"a":[)", nested = R"({"a":)";
  for (auto* const text : {&strings, &nested}) text->reserve(kMostHeaderBytes);
  while (std::ssize(strings) < kMostHeaderBytes - 4) strings += R"("b",)";
  nested.resize(kMostHeaderBytes, '[');
  auto const before = peak_bytes();
  for (auto const& text : {std::string_view(strings), std::string_view(nested)}) {
    expect_error([&] { parse_header(text, 0, "file"); }, Status::damaged, {"a: has a list"});
    expect_error([&] { parse_index(text, "file"); }, Status::damaged, {"not JSON"});
  }
  EXPECT_LT(peak_bytes() - before, 6 * kMostHeaderBytes) << "the library keeps brackets";
}

TEST_F(SafetensorsHostile, a_shard_that_shrinks_while_it_is_read_is_damaged) {
  put(kWeightFile, kSound);
  SafetensorsReader reader(m_dir);
  std::filesystem::resize_file(m_dir / kWeightFile, kSound.size() - 1);
  std::array<std::byte, 8> bytes{};
  expect_error([&] { reader.read(0, 0, bytes); }, Status::damaged, {kWeightFile, "shorter"});
}

std::string one_tensor(std::string const& name) {
  return safetensors_bytes(
      R"({")" + name + R"(":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
      std::string(8, 'x'));
}

struct IndexCase {
  std::string json;
  Status status;
  std::initializer_list<std::string> words;
};

TEST_F(SafetensorsHostile, an_index_that_its_files_contradict_is_refused) {
  put("1.safetensors", one_tensor("a"));
  put("2.safetensors", one_tensor("b"));
  auto const outside = m_dir.parent_path() / "outside.safetensors";
  std::filesystem::copy_file(m_dir / "1.safetensors", outside,
                             std::filesystem::copy_options::overwrite_existing);
  std::string const one = "1.safetensors", two = "2.safetensors";
  auto const map = [](std::string const& pairs) { return R"({"weight_map":{)" + pairs + "}}"; };
  put(kIndexFile, map(R"("a":"1.safetensors","b":"2.safetensors")"));
  EXPECT_EQ(SafetensorsReader(m_dir).tensors().size(), 2u);
  for (auto const& [json, status, words] : std::initializer_list<IndexCase>{
           {map(R"("a":")" + outside.string() + "\""), Status::damaged, {"a: ", "a path"}},
           {map(R"("a":"../outside.safetensors")"), Status::damaged, {"a: ", "a path"}},
           {map(R"("a":"./1.safetensors")"), Status::damaged, {"a: ", "a path"}},
           {map(R"("a":"..")"), Status::damaged, {"a: ", "a path"}},
           {map(R"("a":"")"), Status::damaged, {"a: ", "a path"}},
           {map(R"("a":"1.safetensors\u0000")"), Status::damaged, {"a: ", "a path"}},
           {map(R"("a":"1.safetensors","a":"2.safetensors")"), Status::damaged, {"a: ", "twice"}},
           {map(R"("a":"1.safetensors","b":"2.safetensors","c":"2.safetensors")"),
            Status::damaged,
            {two, "c: is not there"}},
           {map(R"("a":"1.safetensors","b":"1.safetensors")"),
            Status::damaged,
            {one, "b: is not there"}},
           {map(R"("a":"2.safetensors","b":"1.safetensors")"),
            Status::damaged,
            {one, "a: the index says that it is in 2.safetensors"}},
           {map(R"("b":"2.safetensors","c":"1.safetensors")"),
            Status::damaged,
            {one, "a: the index does not name it"}},
           {map(R"("a":"none.safetensors")"), Status::bad_input, {"none.safetensors"}},
           {map(R"("a":7)"), Status::damaged, {"a: has a number"}},
           {map(R"("a":{})"), Status::damaged, {"a: has an object"}},
           {map(R"("":"1.safetensors")"), Status::damaged, {"impossible name"}},
           {R"({"metadata":{"weight_map":{"a":"1.safetensors"}}})",
            Status::damaged,
            {"has no weight_map"}},
           {R"({"weight_map":{},"weight_map":{}})", Status::damaged, {"twice"}},
           {R"({"weight_map":[]})", Status::damaged, {"a list"}},
           {"[]", Status::damaged, {"a list"}},
           {"{", Status::damaged, {"not JSON"}}}) {
    SCOPED_TRACE(json);
    put(kIndexFile, json);
    expect_line(status, words);
  }
  std::filesystem::remove(outside);
}

TEST_F(SafetensorsHostile, a_tensor_in_two_files_is_refused) {
  put("1.safetensors", one_tensor("a"));
  put("2.safetensors", one_tensor("b"));
  put("3.safetensors", one_tensor("a"));
  put(kIndexFile,
      R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors","c":"3.safetensors"}})");
  expect_line(Status::damaged,
              {"3.safetensors", "a: ", "the index says that it is in 1.safetensors"});
}

TEST_F(SafetensorsHostile, what_stands_beside_the_weight_map_is_skipped) {
  put("1.safetensors", one_tensor("a"));
  put(kIndexFile,
      R"({"metadata":{"total_size":-1.5e3,"x":[null,true,{"weight_map":"y"}]},"n":[[1],"s"],)"
      R"("weight_map":{"a":"1.safetensors"},"z":false})");
  EXPECT_EQ(SafetensorsReader(m_dir).tensors().size(), 1u);
}

}  // namespace
}  // namespace spillway::safetensors_hostile_test
