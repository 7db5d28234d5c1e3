// What is said of checkpoints that are damaged, or none, and of a run directory that was mended.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <regex>

#include "io/file/seal.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/checkpoint_seal.hpp"
#include "io/h5/checkpoint_sink.hpp"
#include "io/h5/earlier_checkpoints.hpp"
#include "io/h5/h5_file.hpp"
#include "io/h5/shard_writer.hpp"
#include "tests/support/frozen.hpp"
#include "tests/support/refusals.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::checkpoint_refusals_test {
namespace {

namespace fs = std::filesystem;

// Two tensors in two shards, one of them cut and one of them in two blocks.
CheckpointIndex sample() {
  return {{{"step", "7"}},
          {{3, 100, "rest-a"}, {5, 200, "rest-b"}},
          {{"model", "w", {4, 3}}, {"optimizer/m", "b", {5}, ElementType::bf16}},
          {{0, 0, 7, 0, 16, 8, "aaaaaaaaaaaaaaaa"},
           {0, 7, 5, 1, 8, 8, "bbbbbbbbbbbbbbbb"},
           {1, 0, 5, 1, 64, 3, "ccccccccccccccccdddddddddddddddd"}},
          {}};
}

class CheckpointRefusals : public testing::Test {
 protected:
  CheckpointRefusals() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir);
  }
  ~CheckpointRefusals() override { fs::remove_all(m_dir); }

  void save(std::int64_t step, std::int64_t keep = 9) const {
    auto const directory = begin_checkpoint(m_dir, step);
    ShardWriter writer(directory, 0, m_layout);
    std::array const values{static_cast<float>(step), 2.0f};
    writer.write("model", "w", 0, std::as_bytes(std::span(values)));
    writer.close();
    write_manifest(directory, m_layout, {{"step", std::to_string(step)}});
    EXPECT_EQ(commit_checkpoint(m_dir, step, keep), std::nullopt);
  }
  void put(std::string const& name, std::string const& text) const {
    std::ofstream(m_dir / name) << text;
  }
  void open(std::string const& what, fs::path const& name = "") {
    m_said.add(what, [&] { open_checkpoint(m_dir / name); });
  }
  void mend(std::string const& what) {
    m_said.add(what, [&] {
      for (auto const& line : mend_latest(m_dir)) m_said.say("  said", line);
    });
  }
  // Of sizes of HDF5's files another version may have others.
  void expect_frozen(char const* name) const {
    auto text = std::regex_replace(m_said.text(), std::regex("has [0-9]+ bytes, [0-9]+ were"),
                                   "has # bytes, # were");
    text = std::regex_replace(text, std::regex("[0-9]+ are free"), "# are free");
    test::expect_frozen(fmt::format("refusals_{}.txt", name), text);
  }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway_checkpoint_refusals";
  CheckpointLayout const m_layout = spread_evenly({{"model", "w", {2}}}, 1);
  Refusals m_said{m_dir};
};

TEST_F(CheckpointRefusals, of_an_index_name_the_tensor_and_what_cannot_be) {
  auto const text = to_json(sample());
  EXPECT_EQ(
      text,
      R"({"run":{"step":"7"},"shards":[{"rank":3,"bytes":100,"rest":"rest-a"},)"
      R"({"rank":5,"bytes":200,"rest":"rest-b"}],"tensors":[{"group":"model","name":"w",)"
      R"("type":"F32","shape":[4,3],"extents":[{"first":0,"elements":7,"shard":0,"offset":16,)"
      R"("block":8,"xxh3":"aaaaaaaaaaaaaaaa"},{"first":7,"elements":5,"shard":1,"offset":8,)"
      R"("block":8,"xxh3":"bbbbbbbbbbbbbbbb"}]},{"group":"optimizer/m","name":"b","type":"BF16",)"
      R"("shape":[5],"extents":[{"first":0,"elements":5,"shard":1,"offset":64,"block":3,)"
      R"("xxh3":"ccccccccccccccccdddddddddddddddd"}]}]})");
  EXPECT_EQ(to_json(index_from_json(text, "index")), text);
  EXPECT_NO_THROW(require_whole(sample(), "index"));
  auto const with = [&](std::string const& what, std::string const& instead) {
    auto changed = text;
    changed.replace(changed.find(what), what.size(), instead);
    m_said.add(instead, [&] { require_whole(index_from_json(changed, "/index"), "/whole"); });
  };
  for (auto const* shape : {"[4,2]", "[5,3]", "[]", "[0]", "[-1]", "[1,1,1,1,1,1,1,1,12]",
                            "[16777217,16777216]", "[281474976710657]", "\"4\""})
    with("[4,3]", shape);
  for (auto const* first :
       {R"("first":6,"elements":5)", R"("first":8,"elements":4)", R"("first":7,"elements":6)",
        R"("first":7,"elements":0)", R"("first":7,"elements":4)", R"("first":"7","elements":5)"})
    with(R"("first":7,"elements":5)", first);
  for (auto const* place :
       {R"("shard":2,"offset":8)", R"("shard":-1,"offset":8)", R"("shard":1,"offset":181)",
        R"("shard":1,"offset":180)", R"("shard":1,"offset":-1)", R"("shard":1.0,"offset":8)"})
    with(R"("shard":1,"offset":8)", place);
  for (auto const* sums :
       {R"("block":3,"xxh3":"cccccccccccccccc")",
        R"("block":2,"xxh3":"ccccccccccccccccdddddddddddddddd")",
        R"("block":3,"xxh3":"ccccccccccccccccddddddddddddddddd")", R"("block":0,"xxh3":"")",
        R"("block":3,"xxh3":["cccccccccccccccc","dddddddddddddddd"])",
        R"("xxh3":"ccccccccccccccccdddddddddddddddd")"})
    with(R"("block":3,"xxh3":"ccccccccccccccccdddddddddddddddd")", sums);
  for (auto const* type : {R"("type":"F16")", R"("type":"words")", R"("type":2)"})
    with(R"("type":"BF16")", type);
  with(R"("rank":5)", R"("rank":16777217)");
  with(R"("bytes":200)", R"("bytes":18446744073709551615)");
  with(R"("group":"optimizer/m","name":"b")", R"("group":"model","name":"w")");
  with(R"("name":"b")", R"("name":"")");
  with(R"("name":"b")", R"("name":"a\nb")");
  with(R"("name":"b",)", "");
  with(R"("tensors":)", R"("tensor":)");
  with(text, "{");
  with(text, R"({"run":{},"shards":[],"tensors":[{"group":"g","name":"n","shape":[1],)"
             R"("shard":0,"offset":0,"xxh3":""}]})");
  expect_frozen("checkpoint_index");
}

// What just fits, and one more.
TEST_F(CheckpointRefusals, of_an_index_begin_behind_the_largest_that_there_may_be) {
  auto const said = [](auto const& change) {
    auto index = sample();
    change(index);
    return refused_with([&] { index_from_json(to_json(index), "index"); }, Status::damaged);
  };
  auto const named = [&](std::string const& name) {
    return said([&](CheckpointIndex& index) { index.tensors[1].name = name; });
  };
  auto const impossible = "index: a tensor or a file has an impossible name";
  EXPECT_EQ(named(std::string(1024, 'x')), "");
  EXPECT_EQ(named(std::string(1025, 'x')), impossible);
  EXPECT_EQ(named("a\x7f"), impossible);
  EXPECT_EQ(named(" ~"), "");
  auto const shaped = [&](std::vector<std::int64_t> const& shape) {
    return said([&](CheckpointIndex& index) { index.tensors[1].shape = shape; });
  };
  EXPECT_EQ(shaped({5, 1, 1, 1, 1, 1, 1, 1}), "");
  EXPECT_EQ(shaped({1 << 24, 1 << 24}), "");
  EXPECT_EQ(shaped({std::int64_t{1} << 48}), "");
  EXPECT_EQ(said([](CheckpointIndex& index) { index.shards[1].rank = 1 << 24; }), "");
  auto const large = [&](std::int64_t bytes) {
    return said([&](CheckpointIndex& index) { index.shards[1].bytes = bytes; });
  };
  EXPECT_EQ(large(std::int64_t{1} << 56), "");
  EXPECT_EQ(large((std::int64_t{1} << 56) + 1), "index: 72057594037927937 is impossible");
}

TEST_F(CheckpointRefusals, of_a_directory_name_the_file_and_what_is_wrong_with_it) {
  for (std::int64_t const step : {5, 20}) save(step);
  auto const change = [&](char const* file, std::string const& text) {
    put(std::string("step-20/") + file, text);
    open(std::string(file) + ": " + text.substr(0, text.find('\n')));
    fs::remove_all(m_dir / "step-20");
    save(20);
  };
  change("seal", "nothing");
  change("seal", sealed("[1]\n"));
  change("seal", sealed("{\"version\":5}\n"));
  change("seal", sealed("{\"version\":2.5}\n"));
  change("checkpoint.h5", "short");
  change("shard-0.h5", "short");
  change("latest", "unseen");
  for (auto const* text : {"", "step-20.partial\n", "step-7\n", "step-5\nmore"}) {
    put("latest", text);
    open(fmt::format("latest is {}", std::string(text).substr(0, 15)));
  }
  open("none", "none");
  open("a file", "latest");
  fs::create_directory(m_dir / "empty");
  open("empty", "empty");
  put("empty/config.json", "{}");
  open("of Hugging Face", "empty");
  for (std::int64_t const version : {0, 1, 2, 3, 4, 5}) {
    auto file = H5File::create(m_dir / "empty/checkpoint.h5");
    if (version > 0) file.set_text("/", "format", checkpoint_format);
    file.set_integer("/", "version", version);
    file.create_group("/run");
    file.close();
    open(fmt::format("version {}", version), "empty");
  }
  m_said.add("space", [&] { require_space(m_dir, std::int64_t{1} << 60); });
  expect_frozen("checkpoints");
}

TEST_F(CheckpointRefusals, of_sizes_say_what_is_there_and_what_was_written) {
  save(5);
  auto const bytes = fs::file_size(m_dir / "step-5/shard-0.h5");
  fs::resize_file(m_dir / "step-5/shard-0.h5", bytes - 1);
  m_said.add("cut", [&] { CheckpointReader reader(m_dir / "step-5"); });
  EXPECT_EQ(m_said.text(), fmt::format("cut\n  5: /step-5/shard-0.h5: has {} bytes, {} were "
                                       "written\n",
                                       bytes - 1, bytes));
}

TEST_F(CheckpointRefusals, of_wrong_use_say_what_was_wrong) {
  CheckpointLayout const other{{{"model", "w", {2}}, {"model", "b", {1}}},
                               {{0, 0, 0, 2}, {1, 0, 0, 1}}};
  CheckpointLayout const twice{{{"model", "w", {2}}}, {{0, 0, 0, 1}, {0, 0, 1, 1}}};
  auto const directory = begin_checkpoint(m_dir, 3);
  std::array const floats{1.0f, 2.0f, 3.0f};
  auto const values = std::as_bytes(std::span(floats));
  {
    ShardWriter writer(directory, 0, other);
    m_said.add("another's tensor", [&] { writer.write("model", "c", 0, values); });
    m_said.add("out of order", [&] { writer.write("model", "w", 1, values.first(4)); });
    m_said.add("too much", [&] { writer.write("model", "w", 0, values); });
    m_said.add("not whole", [&] { writer.close(); });
  }
  m_said.add("twice", [&] { ShardWriter writer(directory, 0, twice); });
  ShardWriter writer(directory, 0, m_layout);
  writer.write("model", "w", 0, values.first(8));
  writer.close();
  m_said.add("other tensors", [&] { write_manifest(directory, other, {}); });
  m_said.add("keep none",
             [&] { [[maybe_unused]] auto const said = commit_checkpoint(m_dir, 3, 0); });
  m_said.add("of other types", [&] {
    CheckpointSink sink(m_dir / "sink", TensorList({{"a", ElementType::bf16, {1}}}), {});
  });
  fs::create_directories(m_dir / "c/huggingface");
  put("c/huggingface/a", "text");
  auto const found = read_carried(m_dir / "c", {{"a", {5, "0"}},
                                                {"b", {kMostCarriedBytes + 1, ""}},
                                                {"c", {2 * kMostCarriedBytes + 1, ""}},
                                                {"d", {1, ""}}});
  for (auto const& why : found.unread) m_said.say("carried", why.what());
  expect_frozen("checkpoint_use");
}

TEST_F(CheckpointRefusals, of_what_was_mended_are_lines) {
  for (std::int64_t const step : {5, 20, 100, 30}) save(step);
  mend("nothing");
  put("latest", "step-20\n");
  mend("later ones");
  put("latest.partial", "step-20\n");
  put("latest", "step-5\n");
  fs::last_write_time(m_dir / "latest.partial", fs::last_write_time(m_dir / "latest"));
  mend("an interrupted save");
  fs::remove(m_dir / "latest");
  fs::remove(m_dir / "step-20/checkpoint.h5");
  mend("a missing one");
  fs::remove(m_dir / "latest");
  fs::remove(m_dir / "step-5/checkpoint.h5");
  mend("nothing complete");
  m_said.say("before", text_about_older(m_dir, 20));
  expect_frozen("mended");
}

}  // namespace
}  // namespace spillway::test::checkpoint_refusals_test
