// What a checkpoint says of itself, to this program, to people and to others that read HDF5.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/checksum.hpp"
#include "base/units.hpp"
#include "io/file/seal.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/checkpoint_seal.hpp"
#include "io/h5/h5_file.hpp"
#include "io/h5/shard_writer.hpp"
#include "io/inspect/describe.hpp"
#include "io/safetensors/writer.hpp"

namespace spillway::checkpoint_text_test {
namespace {

namespace fs = std::filesystem;

// Of three ranks, the last of which has two tensors and a part of another one.
class CheckpointText : public testing::Test {
 protected:
  CheckpointText() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir / "c");
    for (int const rank : {0, 1, 4}) {
      ShardWriter writer(m_dir / "c", rank, m_layout);
      for (auto const& [number, by, first, elements] : m_layout.extents)
        if (by == rank) {
          auto const of_this = values(number, first, elements);
          writer.write(m_layout.tensors[number].group, m_layout.tensors[number].name, first,
                       std::as_bytes(std::span(of_this)));
        }
      writer.close();
    }
    auto const carried =
        write_carried(m_dir / "c", {{"b.json", 0640, "{}"}, {"a.txt", kFileMode, "some text"}});
    write_manifest(m_dir / "c", m_layout, {{"step", "12"}, {"note", std::string(61, 'n')}},
                   carried);
  }
  ~CheckpointText() override { fs::remove_all(m_dir); }

  static std::vector<float> values(std::size_t tensor, std::int64_t first, std::int64_t elements) {
    std::vector<float> result;
    for (auto i = first; i < first + elements; ++i)
      result.push_back(float(1000 * tensor) + float(i));
    return result;
  }
  static std::string sum_of(std::vector<float> const& values) {
    return checksum_text(checksum(std::as_bytes(std::span(values))));
  }
  static std::string get(fs::path const& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway_checkpoint_text";
  CheckpointLayout const m_layout{
      {{"model", "w", {4, 5}}, {"model", "b", {3}}, {"optimizer/m", "w", {4, 5}}},
      {{0, 0, 0, 7}, {0, 1, 7, 9}, {0, 4, 16, 4}, {1, 4, 0, 3}, {2, 4, 0, 20}}};
};

TEST_F(CheckpointText, in_hdf5_is_what_others_read) {
  auto const file = H5File::open(m_dir / "c/checkpoint.h5");
  EXPECT_EQ(file.attributes("/"), (std::vector<std::string>{"format", "version"}));
  EXPECT_EQ(file.text("/", "format"), "spillway-checkpoint");
  EXPECT_EQ(file.integer("/", "version"), 4);
  EXPECT_EQ(file.children("/"), (std::vector<std::string>{"model", "optimizer", "run"}));
  EXPECT_EQ(file.attributes("/run"), (std::vector<std::string>{"note", "step"}));
  EXPECT_EQ(file.text("/run", "note"), std::string(61, 'n'));
  EXPECT_EQ(file.read<float>("/model/w", 20), values(0, 0, 20));
  EXPECT_EQ(file.read<float>("/model/b", 3), values(1, 0, 3));
  EXPECT_EQ(file.read<float>("/optimizer/m/w", 20), values(2, 0, 20));
  EXPECT_EQ(file.info("/optimizer/m/w").shape, (std::vector<std::int64_t>{4, 5}));
}

TEST_F(CheckpointText, in_a_seal_begins_with_what_it_is_and_says_what_is_carried) {
  auto const text = unsealed(get(m_dir / "c/seal"));
  auto const manifest = get(m_dir / "c/checkpoint.h5");
  auto const sum = [](std::string const& bytes) {
    return checksum_text(checksum(std::as_bytes(std::span(bytes))));
  };
  auto const begin = fmt::format(
      R"({{"format":"spillway-seal","version":4,"manifest":{{"bytes":{},"xxh3":"{}"}},)"
      R"("carried":{{"a.txt":{{"bytes":9,"xxh3":"{}"}},"b.json":{{"bytes":2,"xxh3":"{}"}}}},)"
      R"("index":{{"run":{{"note":)",
      manifest.size(), sum(manifest), sum("some text"), sum("{}"));
  EXPECT_TRUE(text.starts_with(begin)) << text << "\n" << begin;
  auto const index = read_index(m_dir / "c");
  ASSERT_EQ(index.shards.size(), 3u);
  ASSERT_EQ(index.extents.size(), 5u);
  std::size_t const shards[] = {0, 1, 2, 2, 2};
  for (std::size_t i = 0; i < 5; ++i) {
    auto const& [tensor, rank, first, elements] = m_layout.extents[i];
    auto const& extent = index.extents[i];
    EXPECT_EQ(extent.tensor, tensor);
    EXPECT_EQ(extent.first, first);
    EXPECT_EQ(extent.elements, elements);
    EXPECT_EQ(extent.shard, shards[i]);
    EXPECT_EQ(extent.block_elements, kBlockElements);
    EXPECT_EQ(extent.checksums, sum_of(values(tensor, first, elements)));
    EXPECT_EQ(index.shards[extent.shard].rank, rank);
    EXPECT_EQ(index.shards[extent.shard].bytes,
              static_cast<std::int64_t>(fs::file_size(m_dir / "c" / shard_name(rank))));
  }
  EXPECT_EQ(get(m_dir / "c/huggingface/a.txt"), "some text");
  EXPECT_FALSE(fs::exists(m_dir / "c/shard-4.seal"));
}

TEST_F(CheckpointText, that_is_described_names_all_of_it_and_what_is_wrong) {
  std::ofstream(m_dir / "c/huggingface/a.txt") << "other";
  std::ofstream(m_dir / "c/mine") << "mine";
  std::int64_t bytes = 0;
  for (auto const* shard : {"shard-0.h5", "shard-1.h5", "shard-4.h5"})
    bytes += static_cast<std::int64_t>(fs::file_size(m_dir / "c" / shard));
  EXPECT_EQ(CheckpointReader(m_dir / "c").size_bytes(), bytes);
  auto const at = (m_dir / "c").string();
  EXPECT_EQ(describe(m_dir / "c"),
            "checkpoint " + at + "\n  size        " + human_bytes(bytes) + "\n  note        " +
                std::string(60, 'n') +
                " ...\n  step        12\n  carries     huggingface/a.txt\n"
                "  carries     huggingface/b.json\n"
                "  damaged     " +
                at +
                "/huggingface/a.txt: is not what was written\n"
                "  stranger    mine\n  model       23 values\n  optimizer/m 20 values\n"
                "    w F32 [4, 5]\n    b F32 [3]\n");
}

TEST_F(CheckpointText, of_carried_files_is_theirs_and_their_modes_are_without_execution) {
  auto const found = read_carried(m_dir / "c", CheckpointReader(m_dir / "c").carried());
  ASSERT_EQ(found.files.size(), 2u);
  EXPECT_EQ(found.files[0].name, "a.txt");
  EXPECT_EQ(found.files[0].text, "some text");
  EXPECT_EQ(found.files[1].name, "b.json");
  EXPECT_EQ(size_bytes(found.files), 11);
  std::ofstream(m_dir / "program") << "text";
  for (mode_t const mode : {0755, 0640, 0604}) {
    ASSERT_EQ(::chmod((m_dir / "program").c_str(), mode), 0);
    FileDescriptor const file(::open((m_dir / "program").c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(mode_of(file, m_dir / "program"), mode & 0666u);
  }
}

TEST_F(CheckpointText, of_weights_counts_files_values_and_tensors) {
  SafetensorsWriter writer(
      m_dir / "w", TensorList({{"a", ElementType::f32, {2, 3}}, {"b", ElementType::u8, {5}}}));
  writer.write(0, 0, std::array<std::byte, 24>{});
  writer.write(1, 0, std::array<std::byte, 5>{});
  writer.finish();
  auto const bytes = static_cast<std::int64_t>(fs::file_size(m_dir / "w/model.safetensors"));
  EXPECT_EQ(describe(m_dir / "w"), "weights " + (m_dir / "w").string() + "\n  size        " +
                                       human_bytes(bytes) +
                                       " in 1 file\n  values      11 in 2 tensors\n"
                                       "    a F32 [2, 3]\n    b U8 [5]\n");
}

}  // namespace
}  // namespace spillway::checkpoint_text_test
