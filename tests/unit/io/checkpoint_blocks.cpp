// Tensors of a checkpoint have the types that they were kept in, and a part of one can be read and
// verified without the rest.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <fstream>

#include "base/bf16.hpp"
#include "base/error.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_group.hpp"
#include "io/h5/checkpoint_masters.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/h5_file.hpp"
#include "io/h5/shard_writer.hpp"
#include "tests/support/in_directory.hpp"

namespace spillway::checkpoint_blocks_test {
namespace {

namespace fs = std::filesystem;

// Returns an fp32 number of any size.
float value_of(std::int64_t element) {
  auto const bits = static_cast<std::uint32_t>(element) * 2654435761u;
  auto const value = std::bit_cast<float>(bits);
  return std::isfinite(value) ? value : 0.5f;
}

// Two ranks have written a tensor of masters, each a half. The first half has three blocks and the
// second four, the last of which is not full.
class CheckpointBlocks : public test::InDirectory {
 protected:
  static constexpr std::int64_t kFirst = 3 * kBlockElements, kAll = 2 * kFirst + 5;

  CheckpointBlocks() {
    for (std::int64_t i = 0; i < kAll; ++i) {
      auto const [parameter, remainder] = split_master(value_of(i));
      m_parameters.push_back(parameter.bits);
      m_remainders.push_back(remainder);
    }
    for (int const rank : {0, 1}) {
      ShardWriter writer(m_dir, rank, m_layout);
      auto const first = rank == 0 ? 0 : kFirst, last = rank == 0 ? kFirst : kAll;
      for (auto at = first; at < last; at += 100'000) {  // pieces that end within blocks
        auto const size = std::min<std::int64_t>(100'000, last - at);
        auto const part = [&](auto const& values) {
          return std::as_bytes(std::span(values).subspan(static_cast<std::size_t>(at),
                                                         static_cast<std::size_t>(size)));
        };
        writer.write("model", "w", at, part(m_parameters));
        writer.write("optimizer/remainder", "w", at, part(m_remainders));
      }
      writer.close();
    }
    write_manifest(m_dir, m_layout, {});
  }

  void flip(std::int64_t element) const {
    auto const at = H5File::open(m_dir / "shard-1.h5").offset_bytes("/model/w");
    auto const place = at + 2 * (element - kFirst);
    std::fstream stream(m_dir / "shard-1.h5", std::ios::binary | std::ios::in | std::ios::out);
    auto const byte = static_cast<char>(stream.seekg(place).get());
    stream.seekp(place).put(static_cast<char>(byte ^ 8));
  }
  // Reads [first, last) as it is stored, in pieces.
  std::vector<std::uint16_t> read(CheckpointReader& reader, TensorRange range) const {
    std::vector<std::uint16_t> values(static_cast<std::size_t>(range.last - range.first));
    for (std::size_t at = 0; at < values.size(); at += 77'777)
      reader.read("model", "w", range.first + static_cast<std::int64_t>(at),
                  std::as_writable_bytes(std::span(values).subspan(
                      at, std::min<std::size_t>(77'777, values.size() - at))));
    return values;
  }

  CheckpointLayout const m_layout{{{"model", "w", {kAll}, ElementType::bf16},
                                   {"optimizer/remainder", "w", {kAll}, ElementType::i16}},
                                  {{0, 0, 0, kFirst},
                                   {0, 1, kFirst, kAll - kFirst},
                                   {1, 0, 0, kFirst},
                                   {1, 1, kFirst, kAll - kFirst}}};
  std::vector<std::uint16_t> m_parameters;
  std::vector<std::int16_t> m_remainders;
};

TEST_F(CheckpointBlocks, have_the_types_that_were_written) {
  CheckpointReader reader(m_dir);
  EXPECT_EQ(reader.tensors(), m_layout.tensors);
  EXPECT_EQ(read(reader, {0, kAll}), m_parameters);
  CheckpointMasters masters(reader);
  EXPECT_EQ(masters.tensors()[0], (TensorEntry{"w", ElementType::f32, {kAll}}));
  std::vector<float> values(100'001);
  masters.read(0, kFirst - 50'000, std::as_writable_bytes(std::span(values)));
  for (std::int64_t i = 0; i < std::ssize(values); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(values[static_cast<std::size_t>(i)]),
              std::bit_cast<std::uint32_t>(value_of(kFirst - 50'000 + i)));
}

// HDF5 itself turns bf16 into float.
TEST_F(CheckpointBlocks, are_whole_tensors_of_floats_and_integers_to_others) {
  auto const file = H5File::open(m_dir / "checkpoint.h5");
  EXPECT_EQ(file.info("/model/w").type, H5Type::bf16);
  auto const weights = file.read<float>("/model/w", kAll);
  for (std::int64_t i = 0; i < kAll; ++i) {
    auto const bits = std::bit_cast<std::uint32_t>(weights[static_cast<std::size_t>(i)]);
    ASSERT_EQ(bits, std::uint32_t{m_parameters[static_cast<std::size_t>(i)]} << 16) << i;
  }
  EXPECT_EQ(file.info("/model/w").shape, std::vector{kAll});
  EXPECT_EQ(file.read<std::int16_t>("/optimizer/remainder/w", kAll), m_remainders);
}

TEST_F(CheckpointBlocks, of_remainders_that_fit_no_weight_are_damage) {
  for (auto const& other : {TensorInfo{"model", "w", {4}, ElementType::f32},
                            TensorInfo{"model", "w", {2, 2}, ElementType::bf16},
                            TensorInfo{"model", "v", {4}, ElementType::bf16}}) {
    CheckpointLayout const layout{{other, {"optimizer/remainder", "w", {4}, ElementType::i16}},
                                  {{0, 0, 0, 4}, {1, 0, 0, 4}}};
    std::array<std::byte, 16> const zeros{};
    ShardWriter writer(m_dir, 0, layout);
    writer.write("model", other.name, 0,
                 std::span(zeros).first(static_cast<std::size_t>(4 * size_bytes(other.type))));
    writer.write("optimizer/remainder", "w", 0, std::span(zeros).first(8));
    writer.close();
    write_manifest(m_dir, layout, {});
    CheckpointReader reader(m_dir);
    EXPECT_EQ(error_of([&] { CheckpointMasters masters(reader); }).what(),
              m_dir.string() + ": optimizer/remainder/w: is the remainder of no bf16 weight");
  }
}

TEST_F(CheckpointBlocks, are_verified_one_by_one) {
  CheckpointReader reader(m_dir);
  auto const range = [&](std::int64_t first, std::int64_t last) {
    return reader.verified_range("model", "w", {first, last});
  };
  auto const block = kBlockElements;
  EXPECT_EQ(range(0, 1), (TensorRange{0, block}));
  EXPECT_EQ(range(block - 1, block + 1), (TensorRange{0, 2 * block}));
  EXPECT_EQ(range(kFirst - 1, kFirst + 1), (TensorRange{2 * block, kFirst + block}));
  EXPECT_EQ(range(kAll - 1, kAll), (TensorRange{kFirst + 3 * block, kAll}));
  EXPECT_EQ(range(7, 7), (TensorRange{7, 7}));
  EXPECT_THROW(range(0, kAll + 1), std::logic_error);

  flip(kFirst + block + 9);
  for (auto const sound : {range(0, kFirst), range(kFirst, kFirst + 9), range(kAll - 1, kAll)})
    EXPECT_NO_THROW(read(reader, sound));
  auto const damaged = range(kFirst + block, kFirst + block + 1);
  EXPECT_EQ(damaged, (TensorRange{kFirst + block, kFirst + 2 * block}));
  EXPECT_EQ(error_of([&] { read(reader, damaged); }).what(),
            (m_dir / "shard-1.h5").string() + ": /model/w: not the values that were written");
}

}  // namespace
}  // namespace spillway::checkpoint_blocks_test
