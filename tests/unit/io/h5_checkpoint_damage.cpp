// Checkpoints whose files were cut, changed or exchanged.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/file/seal.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/h5_file.hpp"
#include "tests/unit/io/h5_checkpoint_case.hpp"

namespace spillway::h5_checkpoint_damage_test {
namespace {

namespace fs = std::filesystem;
using test::CheckpointTest;

TEST_F(CheckpointTest, any_file_cut_short_or_missing_is_damaged_and_named) {
  for (auto const* name : {"checkpoint.h5", "seal", "shard-0.h5", "shard-1.h5"}) {
    auto const file = save(4) / name;
    fs::resize_file(file, fs::file_size(file) - 1);
    auto const cut = error_of([&] { find_latest(m_dir); });
    EXPECT_EQ(cut.status(), Status::damaged);
    EXPECT_EQ(std::string(cut.what()).rfind(file.string(), 0), 0u) << cut.what();
    fs::remove(file);
    auto const missing = error_of([&] { find_latest(m_dir); });
    EXPECT_EQ(missing.status(), Status::damaged);
    EXPECT_EQ(std::string(missing.what()).rfind(file.string(), 0), 0u) << missing.what();
    EXPECT_EQ(std::string(missing.what()).find('\n'), std::string::npos);
  }
}

TEST_F(CheckpointTest, latest_that_names_nothing_is_damaged) {
  for (auto const* text : {"", "../elsewhere\n", "step-9\n"}) {
    std::ofstream(m_dir / "latest") << text;
    EXPECT_EQ(error_of([&] { find_latest(m_dir); }).status(), Status::damaged) << text;
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
  reader.read("optimizer/v", "wte.weight", 0, std::as_writable_bytes(std::span(values)));
  reader.read("optimizer/m", "wte.weight", 0, std::as_writable_bytes(std::span(values).first(20)));
  auto const error = error_of([&] {
    reader.read("optimizer/m", "wte.weight", 20,
                std::as_writable_bytes(std::span(values).subspan(20)));
  });
  EXPECT_EQ(error.status(), Status::damaged);
  EXPECT_EQ(error.what(), (directory / "shard-1.h5").string() +
                              ": /optimizer/m/wte.weight: not the values that were written");
}

TEST_F(CheckpointTest, a_directory_named_for_another_step_is_damaged) {
  fs::rename(save(12), m_dir / "step-13");
  auto const error = error_of([&] { CheckpointReader reader(m_dir / "step-13/"); });
  EXPECT_EQ(error.status(), Status::damaged);
  EXPECT_EQ(error.what(), (m_dir / "step-13/").string() + ": holds the checkpoint of step 12");
  fs::rename(m_dir / "step-13", m_dir / "best");
  EXPECT_NO_THROW(read_whole(m_dir / "best"));
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
  EXPECT_EQ(error_of([&] { CheckpointReader reader(m_dir); }).status(), Status::bad_input);
  H5File::create(m_dir / "checkpoint.h5").close();
  EXPECT_EQ(error_of([&] { CheckpointReader reader(m_dir); }).status(), Status::bad_input);
  auto const status_of_version = [&](std::int64_t version) {
    auto file = H5File::create(m_dir / "checkpoint.h5");
    file.set_text("/", "format", checkpoint_format);
    file.set_integer("/", "version", version);
    file.close();
    return error_of([&] { CheckpointReader reader(m_dir); }).status();
  };
  EXPECT_EQ(status_of_version(checkpoint_version + 1), Status::bad_input);
  EXPECT_EQ(status_of_version(checkpoint_version), Status::damaged);  // its seal is missing
}

}  // namespace
}  // namespace spillway::h5_checkpoint_damage_test
