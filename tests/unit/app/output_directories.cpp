// Which directories --force replaces: any file of somebody else's keeps them.
#include <gtest/gtest.h>

#include <fstream>

#include "app/output_directory.hpp"

namespace spillway::output_directories_test {
namespace {

namespace fs = std::filesystem;

class OutputDirectories : public ::testing::Test {
 protected:
  OutputDirectories() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir);
  }
  ~OutputDirectories() override { fs::remove_all(m_dir); }

  void put(std::string const& name) const {
    fs::create_directories((m_dir / name).parent_path());
    std::ofstream(m_dir / name) << "some";
  }
  // Each alone is not this program's, as a file, a directory or a link.
  void expect_kept(bool (*is_alone)(fs::path const&), std::string const& below,
                   std::vector<std::string> const& names) const {
    for (auto const& name : names) {
      auto const path = m_dir / below / name;
      ASSERT_FALSE(fs::exists(path)) << path;
      put((fs::path(below) / name).string());
      EXPECT_FALSE(is_alone(m_dir)) << path;
      fs::remove(path);
      EXPECT_TRUE(is_alone(m_dir)) << path;
    }
  }
  void expect_files_only(bool (*is_alone)(fs::path const&), std::string const& name) const {
    auto const path = m_dir / name;
    fs::create_directory(path);
    EXPECT_FALSE(is_alone(m_dir)) << path << " is a directory";
    fs::remove(path);
    fs::create_symlink(m_dir / "checkpoint.h5", path);
    EXPECT_FALSE(is_alone(m_dir)) << path << " is a link";
    fs::remove(path);
    put(name);
    EXPECT_TRUE(is_alone(m_dir)) << path;
  }

  fs::path const m_dir = fs::path(::testing::TempDir()) / "spillway-output-directories";
};

TEST_F(OutputDirectories, of_checkpoints_hold_what_checkpoints_do) {
  EXPECT_FALSE(is_checkpoint_alone(m_dir)) << "it is empty";
  put("shard-0.h5");
  EXPECT_FALSE(is_checkpoint_alone(m_dir)) << "a shard makes no checkpoint";
  put("checkpoint.h5");
  EXPECT_TRUE(is_checkpoint_alone(m_dir));
  put("shard-11.h5");
  expect_files_only(is_checkpoint_alone, "seal");
  expect_kept(is_checkpoint_alone, "",
              {"notes", "shard-0.txt", "my-shard-0.h5", "config.json", "seal.old", ".hidden"});
  expect_files_only(is_checkpoint_alone, "shard-2.h5");
}

TEST_F(OutputDirectories, of_checkpoints_may_carry_files_of_a_model) {
  put("checkpoint.h5");
  put("huggingface/config.json");
  put("huggingface/tokenizer.json");
  EXPECT_TRUE(is_checkpoint_alone(m_dir));
  expect_kept(is_checkpoint_alone, "huggingface", {"notes", "checkpoint.h5", "shard-0.h5"});
  expect_files_only(is_checkpoint_alone, "huggingface/generation_config.json");
  fs::remove_all(m_dir / "huggingface");
  put("huggingface");
  EXPECT_FALSE(is_checkpoint_alone(m_dir)) << "a file is no folder";
}

TEST_F(OutputDirectories, of_models_hold_what_models_do) {
  put("config.json");
  EXPECT_FALSE(is_model_alone(m_dir)) << "there are no weights";
  put("model.safetensors");
  EXPECT_TRUE(is_model_alone(m_dir));
  put("model-00001-of-00002.safetensors");
  expect_files_only(is_model_alone, "model.safetensors.index.json");
  expect_kept(is_model_alone, "",
              {"notes", "other.safetensors", "model.bin", "checkpoint.h5", "seal"});
  EXPECT_FALSE(is_checkpoint_alone(m_dir));
}

TEST_F(OutputDirectories, are_replaced_where_that_is_forced_only) {
  EXPECT_FALSE(replaceable(false, is_model_alone));
  auto const may = replaceable(true, is_model_alone);
  ASSERT_TRUE(may);
  put("model.safetensors");
  EXPECT_TRUE(may(m_dir));
  put("notes");
  EXPECT_FALSE(may(m_dir));
}

}  // namespace
}  // namespace spillway::output_directories_test
