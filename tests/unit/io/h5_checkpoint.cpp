// Values that checkpoints keep: what ranks wrote is read.
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_group.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/h5_file.hpp"
#include "io/h5/shard_writer.hpp"
#include "tests/support/names_in.hpp"
#include "tests/unit/io/h5_checkpoint_case.hpp"

namespace spillway::h5_checkpoint_test {
namespace {

using test::CheckpointTest;

TEST_F(CheckpointTest, what_was_written_is_read) {
  save(12);
  auto const latest = find_latest(m_dir);
  ASSERT_EQ(latest, m_dir / "step-12");
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
    reader.read(tensor.group, tensor.name, 0, std::as_writable_bytes(std::span(values).first(3)));
    reader.read(tensor.group, tensor.name, 3, std::as_writable_bytes(std::span(values).subspan(3)));
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
  reader.read("model", "wte.weight", 0, std::as_writable_bytes(std::span(values).first(2)));
  reader.read("optimizer/m", "wte.weight", 0, std::as_writable_bytes(std::span(other).first(2)));
  reader.read("model", "wte.weight", 2, std::as_writable_bytes(std::span(values).subspan(2)));
  EXPECT_EQ(values, values_of(0, 42));
  reader.read("model", "wte.weight", 0, std::as_writable_bytes(std::span(values).first(5)));
  reader.read("model", "wte.weight", 2, std::as_writable_bytes(std::span(values).subspan(2)));
  EXPECT_EQ(values, values_of(0, 42));
  reader.read("model", "wte.weight", 0, std::as_writable_bytes(std::span(values).first(5)));
  reader.read("model", "wte.weight", 0, std::as_writable_bytes(std::span(values)));
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
    auto const directory = begin_checkpoint(m_dir, 1);
    write_shards(directory);
    auto const error = error_of([&] { write_manifest(directory, other, {}); });
    EXPECT_EQ(error.status(), Status::damaged);
    EXPECT_EQ(error.what(), (directory / "shard-0.h5").string() +
                                ": holds other tensors than were to be written");
  }
}

TEST_F(CheckpointTest, values_that_are_missing_out_of_order_or_too_many_are_our_own_mistake) {
  auto const directory = begin_checkpoint(m_dir, 1);
  std::array<float, 6> const floats{};
  auto const values = std::as_bytes(std::span(floats));
  ShardWriter writer(directory, 1, m_layout);
  EXPECT_THROW(writer.write("model", "wte.weight", 0, values), std::logic_error);  // of shard 0
  EXPECT_THROW(writer.write("model", "ln.bias", 1, values.first(4)), std::logic_error);
  EXPECT_THROW(writer.write("model", "ln.bias", 0, values.first(6)), std::logic_error);
  EXPECT_THROW(writer.write("model", "ln.bias", 0, values), std::logic_error);
  writer.write("model", "ln.bias", 0, values.first(20));
  EXPECT_THROW(writer.close(), std::logic_error);
  CheckpointReader reader(save(2));
  std::vector<float> six(6);
  EXPECT_THROW(reader.read("model", "ln.bias", 0, std::as_writable_bytes(std::span(six))),
               std::logic_error);
  EXPECT_THROW(reader.read("model", "none", 0, std::as_writable_bytes(std::span(six))),
               std::logic_error);
}

TEST_F(CheckpointTest, a_rank_without_tensors_leaves_no_file) {
  add("far", 2, 5);
  auto const directory = begin_checkpoint(m_dir, 1);
  for (int rank = 0; rank < 7; ++rank) write_shard(directory, rank);
  write_manifest(directory, m_layout, {});
  EXPECT_EQ(test::names_in(directory),
            (std::vector<std::string>{"checkpoint.h5", "seal", "shard-0.h5", "shard-1.h5",
                                      "shard-5.h5"}));
  EXPECT_NO_THROW(read_whole(directory));
}

}  // namespace
}  // namespace spillway::h5_checkpoint_test
