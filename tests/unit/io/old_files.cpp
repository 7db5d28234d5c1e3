// Files of earlier versions. Those of version 1 have no seals: HDF5 alone says what is in them, in
// a child process.
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "base/error.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/inspect/describe.hpp"
#include "io/tokens/token_file.hpp"
#include "tests/support/hostile_h5.hpp"
#include "tests/support/in_directory.hpp"

namespace spillway::old_files_test {
namespace {

namespace fs = std::filesystem;
using test::Oddity;

class OldFiles : public test::InDirectory {
 protected:
  OldFiles() {
    fs::copy(SPILLWAY_SOURCE_DIR "/tests/goldens/version-1", m_dir / "step-2");
    fs::rename(m_dir / "step-2/tokens.h5", m_dir / "tokens.h5");
  }

  void expect_checkpoint(Status status, std::string const& what) const {
    auto const error = error_of([&] { describe(m_dir / "step-2"); });
    EXPECT_EQ(error.status(), status) << error.what();
    EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
  fs::path manifest() const { return m_dir / "step-2/checkpoint.h5"; }
};

void expect_read(fs::path const& directory) {
  CheckpointReader reader(directory);
  EXPECT_EQ(reader.run_strings().at("step"), "2");
  EXPECT_EQ(reader.run_strings().at("samples"), "8");
  ASSERT_EQ(reader.tensors().size(), 3u * 16u);
  for (auto const& [group, name, shape, type] : reader.tensors()) {
    EXPECT_EQ(type, ElementType::f32);
    auto const count =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    std::vector<float> values(static_cast<std::size_t>(count));
    EXPECT_NO_THROW(reader.read(group, name, 0, std::as_writable_bytes(std::span(values))));
  }
  EXPECT_EQ(reader.find("model", "transformer.wte.weight")->shape,
            (std::vector<std::int64_t>{256, 8}));
}

TEST_F(OldFiles, a_checkpoint_is_read_and_its_values_are_proved) {
  expect_read(m_dir / "step-2");
}

TEST_F(OldFiles, checkpoints_of_versions_2_and_3_are_read_and_their_values_are_proved) {
  for (auto const* version : {"version-2", "version-3"}) {
    fs::remove_all(m_dir / "step-2");
    fs::copy(fs::path(SPILLWAY_SOURCE_DIR "/tests/goldens") / version, m_dir / "step-2");
    expect_read(m_dir / "step-2");
  }
}

TEST_F(OldFiles, a_token_file_is_read) {
  TokenFile const file(m_dir / "tokens.h5");
  EXPECT_EQ(file.count(), 3000);
  EXPECT_EQ(file.layout().documents, 1);
  std::vector<std::int32_t> tokens(10);
  file.read(0, tokens);
  EXPECT_EQ(std::string(tokens.begin(), tokens.end()), "# spillway");
}

TEST_F(OldFiles, shard_sizes_that_no_manifest_has_are_damage) {
  for (auto const oddity : {Oddity::scalar, Oddity::null, Oddity::huge}) {
    test::replace_by_oddity(manifest(), "/shards/bytes", oddity);
    expect_checkpoint(Status::damaged, "checkpoint.h5");
  }
}

TEST_F(OldFiles, numbers_of_tokens_that_no_file_has_are_refused) {
  for (auto const oddity : {Oddity::scalar, Oddity::null, Oddity::huge}) {
    test::replace_by_oddity(m_dir / "tokens.h5", "/document_starts", oddity);
    auto const error = error_of([&] { TokenFile file(m_dir / "tokens.h5"); });
    EXPECT_TRUE(error.status() == Status::damaged || error.status() == Status::bad_input);
  }
}

TEST_F(OldFiles, tokens_and_tensors_that_lie_elsewhere_are_not_taken_for_ours) {
  fs::copy_file(m_dir / "tokens.h5", m_dir / "other.h5");
  test::replace_by_link(m_dir / "tokens.h5", "/tokens", "other.h5");
  EXPECT_EQ(error_of([&] { TokenFile file(m_dir / "tokens.h5"); }).status(), Status::bad_input);

  fs::copy(m_dir / "step-2", m_dir / "other");
  test::replace_by_link(m_dir / "step-2/shard-0.h5", "/model/transformer.wte.weight",
                        "../other/shard-0.h5");
  fs::resize_file(m_dir / "step-2/shard-0.h5", fs::file_size(m_dir / "other/shard-0.h5"));
  expect_checkpoint(Status::damaged, "shard-0.h5");
}

TEST_F(OldFiles, what_lost_its_seal_or_head_is_not_taken_for_old) {
  std::ofstream(m_dir / "step-2/seal") << "nothing";
  expect_checkpoint(Status::damaged, "step-2/seal: damaged, or cut short");
}

TEST_F(OldFiles, a_manifest_with_any_byte_changed_ends_in_one_line_or_in_the_same_values) {
  std::ifstream file(manifest(), std::ios::binary);
  std::string const whole{std::istreambuf_iterator<char>(file), {}};
  auto const described = describe(m_dir / "step-2");
  for (std::size_t at = 0; at < whole.size(); at += 499) {
    auto bytes = whole;
    bytes[at] = static_cast<char>(~bytes[at]);
    std::ofstream(manifest(), std::ios::binary) << bytes;
    auto const error = error_of([&] { describe(m_dir / "step-2"); });
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << at;
  }
}

}  // namespace
}  // namespace spillway::old_files_test
