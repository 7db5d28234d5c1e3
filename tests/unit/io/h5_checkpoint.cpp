#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "io/file/seal.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_group.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/h5_file.hpp"
#include "io/h5/shard_writer.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::h5_checkpoint_test {
namespace {

namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    fs::remove_all(m_run);
    fs::create_directories(m_run);
  }
  ~CheckpointTest() override { fs::remove_all(m_run); }

  // Values that name tensor and element.
  static std::vector<float> values_of(std::size_t tensor, std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(1000 * tensor + i);
    return values;
  }

  // In two pieces each.
  void write_shard(fs::path const& directory, int rank) const {
    ShardWriter writer(directory, rank, m_layout);
    for (auto const& [number, by, first, elements] : m_layout.extents) {
      if (by != rank) continue;
      auto const& tensor = m_layout.tensors[number];
      auto const values = values_of(number, element_count(tensor.shape));
      auto const half = elements / 2;
      auto const write = [&](std::int64_t from, std::int64_t count) {
        writer.write(tensor.group, tensor.name, from,
                     std::span(values).subspan(static_cast<std::size_t>(from),
                                               static_cast<std::size_t>(count)));
      };
      write(first, half);
      write(first + half, elements - half);
    }
    writer.close();
  }

  void write_shards(fs::path const& directory) const {
    for (int rank = 0; rank < 2; ++rank) write_shard(directory, rank);
  }

  // Tensor `number`, a new one, whole, by one rank.
  void add(std::string const& name, std::int64_t elements, int rank) {
    m_layout.extents.push_back({m_layout.tensors.size(), rank, 0, elements});
    m_layout.tensors.push_back({"model", name, {elements}});
  }

  fs::path save(std::int64_t step, std::int64_t keep = 3) const {
    auto const directory = begin_checkpoint(m_run, step);
    write_shards(directory);
    write_manifest(directory, m_layout, {{"step", std::to_string(step)}, {"seed", "1"}});
    EXPECT_EQ(commit_checkpoint(m_run, step, keep), std::nullopt);
    return m_run / ("step-" + std::to_string(step));
  }

  std::vector<std::string> entries() const { return test::names_in(m_run); }

  fs::path m_run =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  // One tensor is cut within a row.
  CheckpointLayout m_layout{
      {{"model", "wte.weight", {7, 6}},
       {"model", "ln.bias", {5}},
       {"optimizer/m", "wte.weight", {7, 6}},
       {"optimizer/v", "wte.weight", {7, 6}}},
      {{0, 0, 0, 42}, {1, 1, 0, 5}, {2, 1, 0, 42}, {3, 1, 0, 16}, {3, 0, 16, 26}}};
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

TEST_F(CheckpointTest, what_was_written_is_read) {
  save(12);
  auto const latest = find_latest(m_run);
  ASSERT_EQ(latest, m_run / "step-12");
  CheckpointReader reader(*latest);
  EXPECT_EQ(reader.run_strings().at("step"), "12");
  EXPECT_EQ(reader.run_strings().size(), 2u);
  ASSERT_EQ(reader.tensors().size(), 4u);
  EXPECT_EQ(reader.find("model", "other"), nullptr);
  for (std::size_t i = 0; i < m_layout.tensors.size(); ++i) {
    auto const& tensor = m_layout.tensors[i];
    auto const* info = reader.find(tensor.group, tensor.name);
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(*info, tensor);
    std::vector<float> values(static_cast<std::size_t>(element_count(tensor.shape)));
    reader.read(tensor.group, tensor.name, 0, std::span(values).first(3));
    reader.read(tensor.group, tensor.name, 3, std::span(values).subspan(3));
    EXPECT_EQ(values, values_of(i, element_count(tensor.shape)));
  }
}

TEST_F(CheckpointTest, the_manifest_shows_whole_tensors) {
  auto const directory = save(1);
  auto const manifest = H5File::open(directory / "checkpoint.h5");
  EXPECT_EQ(manifest.read<float>("/optimizer/m/wte.weight", 42), values_of(2, 42));
  EXPECT_EQ(manifest.read<float>("/optimizer/v/wte.weight", 42), values_of(3, 42));  // in two parts
  EXPECT_EQ(manifest.text("/run", "step"), "1");
  EXPECT_EQ(manifest.info("/optimizer/m/wte.weight").shape, (std::vector<std::int64_t>{7, 6}));
}

// A tensor that is cut, from both sides of the cut.
TEST_F(CheckpointTest, a_group_is_a_source_of_its_own_tensors) {
  auto const directory = save(1);
  CheckpointReader reader(directory);
  CheckpointGroup group(reader, "optimizer/v");
  ASSERT_EQ(group.tensors().size(), 1u);
  EXPECT_EQ(group.tensors()[0], (TensorEntry{"wte.weight", ElementType::f32, {7, 6}}));
  EXPECT_EQ(group.place(), directory.string());
  std::array<float, 5> values{};
  group.read(0, 14, std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, (std::array<float, 5>{3014, 3015, 3016, 3017, 3018}));
  EXPECT_THROW(group.read(0, 38, std::as_writable_bytes(std::span(values))), std::logic_error);
  EXPECT_EQ(CheckpointGroup(reader, "model").tensors().size(), 2u);
  EXPECT_EQ(CheckpointGroup(reader, "none").tensors().size(), 0u);
}

TEST_F(CheckpointTest, what_is_read_in_turns_or_twice_is_not_taken_for_damage) {
  CheckpointReader reader(save(1));
  std::vector<float> values(42), other(42);
  reader.read("model", "wte.weight", 0, std::span(values).first(2));
  reader.read("optimizer/m", "wte.weight", 0, std::span(other).first(2));
  reader.read("model", "wte.weight", 2, std::span(values).subspan(2));
  EXPECT_EQ(values, values_of(0, 42));
  reader.read("model", "wte.weight", 0, std::span(values).first(5));
  reader.read("model", "wte.weight", 2, std::span(values).subspan(2));
  EXPECT_EQ(values, values_of(0, 42));
  reader.read("model", "wte.weight", 0, std::span(values).first(5));
  reader.read("model", "wte.weight", 0, values);
  EXPECT_EQ(values, values_of(0, 42));
}

TEST_F(CheckpointTest, a_manifest_of_other_extents_than_were_written_is_refused) {
  auto const halves = [](std::string const& name, std::vector<std::int64_t> shape, std::int64_t cut,
                         int first_rank) {
    return CheckpointLayout{{{"model", name, std::move(shape)}},
                            {{0, first_rank, 0, cut}, {0, 1 - first_rank, cut, 6 - cut}}};
  };
  m_layout = halves("a", {6}, 3, 0);
  for (auto const& other : {halves("b", {6}, 3, 0), halves("a", {2, 3}, 3, 0),
                            halves("a", {6}, 2, 0), halves("a", {6}, 3, 1)}) {
    auto const directory = begin_checkpoint(m_run, 1);
    write_shards(directory);
    auto const error = error_of([&] { write_manifest(directory, other, {}); });
    EXPECT_EQ(error.status(), Status::damaged);
    EXPECT_EQ(error.what(), (directory / "shard-0.h5").string() +
                                ": holds other tensors than were to be written");
  }
}

TEST_F(CheckpointTest, those_up_to_a_step_are_counted_and_a_run_stands_for_its_newest) {
  EXPECT_EQ(checkpoint_at(m_run), m_run);
  for (std::int64_t const step : {5, 20, 30}) save(step);
  fs::create_directory(m_run / "step-7.partial");
  fs::create_directory(m_run / "step-8.replaced");
  for (auto const& [step, count] : {std::pair{4, 0}, {5, 1}, {29, 2}, {30, 3}, {1000, 3}})
    EXPECT_EQ(count_checkpoints(m_run, step), count) << step;
  std::ofstream(m_run / "latest") << "step-20";  // nobody ended the line
  EXPECT_EQ(checkpoint_at(m_run), m_run / "step-20");
  EXPECT_EQ(checkpoint_at(m_run / "step-5"), m_run / "step-5");
  EXPECT_EQ(checkpoint_at(m_run / "none"), m_run / "none");
}

TEST_F(CheckpointTest, a_new_run_has_none) {
  EXPECT_EQ(find_latest(m_run), std::nullopt);
  EXPECT_EQ(find_latest(m_run / "missing"), std::nullopt);
}

TEST_F(CheckpointTest, one_that_was_not_committed_leaves_the_previous_one_valid) {
  save(10);
  write_shards(begin_checkpoint(m_run, 20));  // and then the job dies
  EXPECT_EQ(find_latest(m_run), m_run / "step-10");
  save(30);  // sweeps what was left
  EXPECT_EQ(entries(), (std::vector<std::string>{"latest", "step-10", "step-30"}));
}

TEST_F(CheckpointTest, the_newest_are_kept) {
  for (std::int64_t step : {5, 10, 20, 100}) save(step, 2);
  EXPECT_EQ(entries(), (std::vector<std::string>{"latest", "step-100", "step-20"}));
  EXPECT_EQ(find_latest(m_run), m_run / "step-100");
}

TEST_F(CheckpointTest, the_same_step_again_takes_the_place_of_the_first) {
  save(7);
  std::erase_if(m_layout.extents, [](ExtentSpec const& extent) { return extent.tensor == 3; });
  m_layout.tensors.pop_back();
  save(7);
  EXPECT_EQ(entries(), (std::vector<std::string>{"latest", "step-7"}));
  EXPECT_EQ(CheckpointReader(*find_latest(m_run)).tensors().size(), 3u);
}

TEST_F(CheckpointTest, other_files_of_the_run_are_left_alone) {
  fs::create_directory(m_run / "step-notes");
  fs::create_directory(m_run / "step-3x");
  std::ofstream(m_run / "metrics.jsonl") << "{}\n";
  for (std::int64_t step : {1, 2, 3}) save(step, 1);
  EXPECT_EQ(entries(), (std::vector<std::string>{"latest", "metrics.jsonl", "step-3", "step-3x",
                                                 "step-notes"}));
}

TEST_F(CheckpointTest, any_file_cut_short_or_missing_is_damaged_and_named) {
  for (auto const* name : {"checkpoint.h5", "seal", "shard-0.h5", "shard-1.h5"}) {
    auto const file = save(4) / name;
    fs::resize_file(file, fs::file_size(file) - 1);
    auto const cut = error_of([&] { find_latest(m_run); });
    EXPECT_EQ(cut.status(), Status::damaged);
    EXPECT_EQ(std::string(cut.what()).rfind(file.string(), 0), 0u) << cut.what();
    fs::remove(file);
    auto const missing = error_of([&] { find_latest(m_run); });
    EXPECT_EQ(missing.status(), Status::damaged);
    EXPECT_EQ(std::string(missing.what()).rfind(file.string(), 0), 0u) << missing.what();
    EXPECT_EQ(std::string(missing.what()).find('\n'), std::string::npos);
  }
}

TEST_F(CheckpointTest, latest_that_names_nothing_is_damaged) {
  for (auto const* text : {"", "../elsewhere\n", "step-9\n"}) {
    std::ofstream(m_run / "latest") << text;
    EXPECT_EQ(error_of([&] { find_latest(m_run); }).status(), Status::damaged) << text;
  }
}

// Reads all that a run reads.
void read_whole(fs::path const& directory) {
  CheckpointReader reader(directory);
  for (auto const& [group, name, shape] : reader.tensors()) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    reader.read(group, name, 0, values);
  }
}

void flip_bit(fs::path const& file, std::int64_t at, int bit) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  auto const byte = static_cast<char>(stream.seekg(at).get());
  stream.seekp(at).put(static_cast<char>(byte ^ (1 << bit)));
}

TEST_F(CheckpointTest, any_flipped_bit_of_any_file_is_found) {
  auto const directory = save(1);
  EXPECT_NO_THROW(read_whole(directory));
  for (auto const* name : {"checkpoint.h5", "seal", "shard-0.h5", "shard-1.h5"}) {
    auto const size = static_cast<std::int64_t>(fs::file_size(directory / name));
    for (std::int64_t at = 0; at < size; at += 7) {
      flip_bit(directory / name, at, static_cast<int>(at % 8));
      auto const error = error_of([&] { read_whole(directory); });
      EXPECT_EQ(error.status(), Status::damaged) << name << ", byte " << at;
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
      flip_bit(directory / name, at, static_cast<int>(at % 8));
    }
  }
  EXPECT_NO_THROW(read_whole(directory));
}

TEST_F(CheckpointTest, a_value_that_changed_is_named_by_its_tensor) {
  auto const directory = save(1);
  auto const offset =
      H5File::open(directory / "shard-1.h5").offset_bytes("/optimizer/m/wte.weight");
  flip_bit(directory / "shard-1.h5", offset + 40, 3);
  CheckpointReader reader(directory);
  std::vector<float> values(42);
  reader.read("optimizer/v", "wte.weight", 0, values);
  reader.read("optimizer/m", "wte.weight", 0, std::span(values).first(20));
  auto const error = error_of(
      [&] { reader.read("optimizer/m", "wte.weight", 20, std::span(values).subspan(20)); });
  EXPECT_EQ(error.status(), Status::damaged);
  EXPECT_EQ(error.what(), (directory / "shard-1.h5").string() +
                              ": /optimizer/m/wte.weight: not the values that were written");
}

TEST_F(CheckpointTest, a_directory_named_for_another_step_is_damaged) {
  fs::rename(save(12), m_run / "step-13");
  auto const error = error_of([&] { CheckpointReader reader(m_run / "step-13/"); });
  EXPECT_EQ(error.status(), Status::damaged);
  EXPECT_EQ(error.what(), (m_run / "step-13/").string() + ": holds the checkpoint of step 12");
  fs::rename(m_run / "step-13", m_run / "best");
  EXPECT_NO_THROW(read_whole(m_run / "best"));
}

TEST_F(CheckpointTest, a_seal_that_says_what_cannot_be_is_damaged) {
  auto const seal = save(1) / "seal";
  std::ifstream file(seal);
  std::string line;
  std::getline(file, line);
  auto const expect_refused = [&](std::string const& what, std::string const& instead) {
    auto text = line;
    auto const at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    std::ofstream(seal) << sealed(text.replace(at, what.size(), instead) + "\n");
    auto const error = error_of([&] { read_whole(seal.parent_path()); });
    EXPECT_EQ(error.status(), Status::damaged) << instead << ": " << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  };
  expect_refused("[7,6]", "[7,-6]");
  expect_refused("[7,6]", "[1099511627776,1099511627776]");
  expect_refused("[7,6]", "[18446744073709551615]");
  expect_refused("[7,6]", "[]");
  expect_refused("[7,6]", "[7.5]");
  expect_refused("[7,6]", "[268435456,1]");
  expect_refused(R"("shard":0)", R"("shard":2)");
  expect_refused(R"("shard":0)", R"("shard":-1)");
  expect_refused(R"("rank":1)", R"("rank":99999999999)");
  expect_refused(R"("name":"ln.bias")", R"("name":"wte.weight")");
  expect_refused(R"("name":"ln.bias")", "\"name\":\"\\u001b[2J\"");
  expect_refused(R"("index":)", R"("other":)");
  expect_refused(line, "[[[[");
}

TEST_F(CheckpointTest, another_hdf5_file_or_a_later_version_is_bad_input) {
  EXPECT_EQ(error_of([&] { CheckpointReader reader(m_run); }).status(), Status::bad_input);
  H5File::create(m_run / "checkpoint.h5").close();
  EXPECT_EQ(error_of([&] { CheckpointReader reader(m_run); }).status(), Status::bad_input);
  auto const status_of_version = [&](std::int64_t version) {
    auto file = H5File::create(m_run / "checkpoint.h5");
    file.set_text("/", "format", checkpoint_format);
    file.set_integer("/", "version", version);
    file.close();
    return error_of([&] { CheckpointReader reader(m_run); }).status();
  };
  EXPECT_EQ(status_of_version(checkpoint_version + 1), Status::bad_input);
  EXPECT_EQ(status_of_version(checkpoint_version), Status::damaged);  // its seal is missing
}

TEST_F(CheckpointTest, values_that_are_missing_out_of_order_or_too_many_are_our_own_mistake) {
  auto const directory = begin_checkpoint(m_run, 1);
  std::vector<float> const values(6);
  ShardWriter writer(directory, 1, m_layout);
  EXPECT_THROW(writer.write("model", "wte.weight", 0, values), std::logic_error);  // of shard 0
  EXPECT_THROW(writer.write("model", "ln.bias", 1, std::span(values).first(1)), std::logic_error);
  EXPECT_THROW(writer.write("model", "ln.bias", 0, values), std::logic_error);
  writer.write("model", "ln.bias", 0, std::span(values).first(5));
  EXPECT_THROW(writer.close(), std::logic_error);
  CheckpointReader reader(save(2));
  std::vector<float> six(6);
  EXPECT_THROW(reader.read("model", "ln.bias", 0, six), std::logic_error);
  EXPECT_THROW(reader.read("model", "none", 0, six), std::logic_error);
}

TEST_F(CheckpointTest, a_rank_without_tensors_leaves_no_file) {
  add("far", 2, 5);
  auto const directory = begin_checkpoint(m_run, 1);
  for (int rank = 0; rank < 7; ++rank) write_shard(directory, rank);
  write_manifest(directory, m_layout, {});
  EXPECT_EQ(test::names_in(directory),
            (std::vector<std::string>{"checkpoint.h5", "seal", "shard-0.h5", "shard-1.h5",
                                      "shard-5.h5"}));
  EXPECT_NO_THROW(read_whole(directory));
}

TEST_F(CheckpointTest, full_storage_is_one_line_and_the_next_attempt_succeeds) {
  save(1);
  add("big", 100'000, 1);
  auto const error = [&] {
    test::FileSizeLimit const limit(20'000);
    return error_of([&] { save(2); });
  }();
  EXPECT_EQ(error.status(), Status::storage) << error.what();
  EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  EXPECT_EQ(find_latest(m_run), m_run / "step-1");
  save(3);
  EXPECT_EQ(find_latest(m_run), m_run / "step-3");
}

TEST_F(CheckpointTest, space_is_asked_for) {
  EXPECT_NO_THROW(require_space(m_run, 1));
  auto const error = error_of([&] { require_space(m_run, 1ll << 60); });
  EXPECT_EQ(error.status(), Status::storage);
}

}  // namespace
}  // namespace spillway::h5_checkpoint_test
