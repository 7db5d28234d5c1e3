// What the tests of HDF5 checkpoints have in common: a run's directory, tensors that two ranks
// write, and errors.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/h5_file.hpp"
#include "io/h5/shard_writer.hpp"
#include "tests/support/in_directory.hpp"
#include "tests/support/names_in.hpp"

namespace spillway::test {

class CheckpointTest : public InDirectory {
 protected:
  // Values that name tensor and element.
  static std::vector<float> values_of(std::size_t tensor, std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(1000 * tensor + i);
    return values;
  }

  // In two pieces each.
  void write_shard(std::filesystem::path const& directory, int rank) const {
    ShardWriter writer(directory, rank, m_layout);
    for (auto const& [number, by, first, elements] : m_layout.extents) {
      if (by != rank) continue;
      auto const& tensor = m_layout.tensors[number];
      auto const values = values_of(number, element_count(tensor.shape));
      auto const half = elements / 2;
      auto const write = [&](std::int64_t from, std::int64_t count) {
        auto const part = std::span(values).subspan(static_cast<std::size_t>(from),
                                                    static_cast<std::size_t>(count));
        writer.write(tensor.group, tensor.name, from, std::as_bytes(part));
      };
      write(first, half);
      write(first + half, elements - half);
    }
    writer.close();
  }

  void write_shards(std::filesystem::path const& directory) const {
    for (int rank = 0; rank < 2; ++rank) write_shard(directory, rank);
  }

  // Tensor `number`, a new one, whole, by one rank.
  void add(std::string const& name, std::int64_t elements, int rank) {
    m_layout.extents.push_back({m_layout.tensors.size(), rank, 0, elements});
    m_layout.tensors.push_back({"model", name, {elements}});
  }

  std::filesystem::path save(std::int64_t step, std::int64_t keep = 3) const {
    auto const directory = begin_checkpoint(m_dir, step);
    write_shards(directory);
    write_manifest(directory, m_layout, {{"step", std::to_string(step)}, {"seed", "1"}});
    EXPECT_EQ(commit_checkpoint(m_dir, step, keep), std::nullopt);
    return m_dir / ("step-" + std::to_string(step));
  }

  std::vector<std::string> entries() const { return names_in(m_dir); }

  // Reads all that a run reads.
  static void read_whole(std::filesystem::path const& directory) {
    CheckpointReader reader(directory);
    for (auto const& [group, name, shape, type] : reader.tensors()) {
      std::vector<std::byte> values(
          static_cast<std::size_t>(element_count(shape) * size_bytes(type)));
      reader.read(group, name, 0, values);
    }
  }

  // One tensor is cut within a row.
  CheckpointLayout m_layout{
      {{"model", "wte.weight", {7, 6}},
       {"model", "ln.bias", {5}},
       {"optimizer/m", "wte.weight", {7, 6}},
       {"optimizer/v", "wte.weight", {7, 6}}},
      {{0, 0, 0, 42}, {1, 1, 0, 5}, {2, 1, 0, 42}, {3, 1, 0, 16}, {3, 0, 16, 26}}};
};

}  // namespace spillway::test
