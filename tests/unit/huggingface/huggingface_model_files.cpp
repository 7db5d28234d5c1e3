// What a model brings along from a stranger's directory, and what of it comes back.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "huggingface/export_model.hpp"
#include "huggingface/model_directory.hpp"
#include "huggingface/model_files.hpp"
#include "tests/support/model_directory.hpp"
#include "tests/support/names_in.hpp"

namespace spillway::huggingface_model_files_test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class ModelFiles : public testing::Test {
 protected:
  ModelFiles() {
    fs::remove_all(m_dir);
    test::write_model_directory(m_model, test::directory_cases()[3]);  // in several files
  }
  ~ModelFiles() override { fs::remove_all(m_dir); }

  void write(std::string const& name, std::string const& bytes) const {
    std::ofstream(m_model / name, std::ios::binary) << bytes;
  }
  std::string read(fs::path const& path) const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  Names taken() const {
    Names names;
    for (auto const& file : read_model_files(m_model)) names.push_back(file.name);
    std::ranges::sort(names);
    return names;
  }
  // The file becomes this and is refused in one line, for the reason.
  void expect_refusal(std::string const& name, std::string const& bytes, std::string const& why) {
    write(name, bytes);
    try {
      read_model_files(m_model);
      ADD_FAILURE() << name;
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::bad_input);
      EXPECT_EQ(error.what(), (m_model / name).string() + ": " + why);
    }
    fs::remove(m_model / name);
  }
  static mode_t mode_of(fs::path const& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway_model_files";
  fs::path const m_model = m_dir / "model";
};

TEST_F(ModelFiles, only_those_of_a_tokenizer_are_taken) {
  for (auto const* name :
       {"pytorch_model.bin", "modeling_x.py", "model.ckpt", "rust_model.ot", "flax_model.msgpack",
        "tf_model.h5", "model.onnx", "model.gguf", "consolidated.00.pth", "training_args.bin",
        "model.safetensors.index.json.bak", "tokenizer.json.bak", "config.json~",
        "tensor-types.json", "README.md", ".gitattributes"}) {
    write(name, "{}");
    EXPECT_FALSE(is_model_file(name)) << name;
  }
  for (auto const* name : {"model.safetensors", "model.safetensors.index.json", "../config.json"})
    EXPECT_FALSE(is_model_file(name)) << name;
  EXPECT_EQ(taken(), (Names{"config.json", "tokenizer.json"}));
  write("vocab.txt", "ein\r\nWört\n");
  write("spiece.model", std::string("\x0a\x0e\xff\0", 4) + std::string(12, '\xfe'));
  write("tokenizer.model", "IQ== 0\nIg== 1\n");
  EXPECT_EQ(taken(), (Names{"config.json", "spiece.model", "tokenizer.json", "tokenizer.model",
                            "vocab.txt"}));
}

TEST_F(ModelFiles, each_is_looked_at_first) {
  expect_refusal("vocab.json", "root:x:0:0", "is no JSON");
  expect_refusal("tokenizer_config.json", "", "is no JSON");
  expect_refusal("merges.txt", std::string("a\0b", 3), "is no text");
  expect_refusal("vocab.txt", "\xff\xfe", "is no text");
  expect_refusal("chat_template.jinja",
                 "\x7f"
                 "ELF\x02\x80",
                 "is no text");
  expect_refusal("spiece.model", "\x80\x04K", "is neither a model of SentencePiece nor text");
  fs::create_directory(m_model / "vocab.txt");
  EXPECT_THROW(read_model_files(m_model), Error);
  fs::remove(m_model / "vocab.txt");
  ASSERT_EQ(::mkfifo((m_model / "vocab.txt").c_str(), 0600), 0);
  EXPECT_THROW(read_model_files(m_model), Error);
  fs::remove(m_model / "vocab.txt");
  write("merges.txt", "");
  fs::resize_file(m_model / "merges.txt", kMostCarriedBytes + 1);
  EXPECT_THROW(read_model_files(m_model), Error);
}

// Every file of the directory, weights too.
TEST_F(ModelFiles, no_link_leads_out_of_the_directory) {
  for (auto const& name : test::names_in(m_model)) {
    fs::rename(m_model / name, m_dir / name);
    fs::create_symlink(fs::absolute(m_dir / name), m_model / name);
    try {
      ModelDirectory const model(m_model);
      model.carried();
      ADD_FAILURE() << name;
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::bad_input);
      EXPECT_NE(std::string(error.what()).find(name + ": leads out of its directory"),
                std::string::npos)
          << error.what();
    }
    fs::remove(m_model / name);
    fs::rename(m_dir / name, m_model / name);
  }
  EXPECT_EQ(ModelDirectory(m_model).carried().size(), 3u);
}

TEST_F(ModelFiles, a_snapshot_of_the_hubs_cache_is_read_whole) {
  auto const entry = m_dir / "models--a--b", snapshot = entry / "snapshots" / "0123";
  fs::create_directories(snapshot);
  fs::create_directories(entry / "blobs");
  for (auto const& name : test::names_in(m_model)) {
    fs::copy(m_model / name, entry / "blobs" / ("sum-of-" + name));
    fs::create_symlink(fs::path("../../blobs") / ("sum-of-" + name), snapshot / name);
  }
  EXPECT_EQ(ModelDirectory(snapshot).carried().size(), 3u);
  EXPECT_EQ(test::tensors_in(snapshot), test::tensors_in(m_model));
}

TEST_F(ModelFiles, nothing_that_is_carried_takes_the_place_of_what_export_writes) {
  ModelDirectory model(m_model);
  auto carried = model.carried();
  for (auto const* name : {"model.safetensors", "model.safetensors.index.json",
                           "model-00001-of-00002.safetensors", "pytorch_model.bin", "modeling.py"})
    carried.push_back({name, kFileMode, "a stranger's"});
  export_model(model, model.config(), carried, std::nullopt, m_dir / "out");
  EXPECT_EQ(test::names_in(m_dir / "out"),
            (Names{"config.json", "model.safetensors", "tokenizer.json"}));
  EXPECT_EQ(test::tensors_in(m_dir / "out"), test::tensors_in(m_model));
}

TEST_F(ModelFiles, of_adapters_are_theirs_first_and_of_their_model_where_they_have_none) {
  auto const own = m_dir / "own";
  fs::create_directories(own);
  auto const write_own = [&](std::string const& name, std::string const& text) {
    std::ofstream(own / name) << text;
  };
  for (auto const* name : {"generation_config.json", "tokenizer_config.json", "vocab.json"})
    write(name, "{}");
  write("chat_template.jinja", "theirs");
  auto const texts = [&] {
    std::map<std::string, std::string> found;
    for (auto const& file : read_model_files({own, m_model})) found[file.name] = file.text;
    return found;
  };
  auto const theirs = texts();
  EXPECT_EQ(theirs.size(), 6u);
  write_own("generation_config.json", R"({"of": "no model"})");
  write_own("spiece.model", "own");
  write_own("tokenizer_config.json", R"({"chat_template": null})");
  auto expected = theirs;
  expected["spiece.model"] = "own";
  expected["tokenizer_config.json"] = R"({"chat_template": null})";
  expected.erase("tokenizer.json");  // a tokenizer is one folder's
  expected.erase("vocab.json");
  EXPECT_EQ(texts(), expected);
  write_own("tokenizer_config.json", R"({"chat_template": "own"})");
  expected["tokenizer_config.json"] = R"({"chat_template": "own"})";
  expected.erase("chat_template.jinja");
  EXPECT_EQ(texts(), expected);
}

TEST_F(ModelFiles, what_was_private_stays_so) {
  auto const before = ::umask(022);
  ::chmod((m_model / "tokenizer.json").c_str(), 0640);
  ::chmod((m_model / "config.json").c_str(), 0600);
  ModelDirectory model(m_model);
  export_model(model, model.config(), model.carried(), std::nullopt, m_dir / "out");
  ::umask(before);
  EXPECT_EQ(mode_of(m_dir / "out/tokenizer.json"), 0640u);
  EXPECT_EQ(mode_of(m_dir / "out/config.json"), 0600u);
  EXPECT_EQ(mode_of(m_dir / "out/model.safetensors"), 0644u);
}

}  // namespace
}  // namespace spillway::huggingface_model_files_test
