#include "io/inspect/describe.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "base/error.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/shard_writer.hpp"
#include "io/safetensors/writer.hpp"
#include "tests/support/tokenize_bytes.hpp"

namespace spillway::describe_test {
namespace {

namespace fs = std::filesystem;

class DescribeTest : public testing::Test {
 protected:
  DescribeTest() { fs::create_directories(m_dir); }
  ~DescribeTest() override { fs::remove_all(m_dir); }
  fs::path m_dir = fs::path(testing::TempDir()) / "describe";
};

TEST_F(DescribeTest, a_token_file_shows_its_beginning) {
  std::ofstream(m_dir / "a.txt") << "int x;\n";
  test::tokenize_bytes(std::array{m_dir / "a.txt"}, Output(m_dir / "t.h5"), true);
  EXPECT_EQ(describe(m_dir / "t.h5"), "token file " + (m_dir / "t.h5").string() +
                                          " (HDF5)\n"
                                          "  tokens      8 of 16 bits\n"
                                          "  vocabulary  257 (byte)\n"
                                          "  documents   1\n"
                                          "  begins      int x;..\n");
}

TEST_F(DescribeTest, a_path_that_the_system_refuses_is_bad_input) {
  try {
    describe(m_dir / std::string(300, 'x'));
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

TEST_F(DescribeTest, a_checkpoint_shows_its_run_and_tensors) {
  auto const layout =
      spread_evenly({{"model", "wte.weight", {3, 2}}, {"optimizer/m", "wte.weight", {3, 2}}}, 1);
  ShardWriter writer(m_dir, 0, layout);
  std::array<float, 6> const values{};
  for (auto const& tensor : layout.tensors)
    writer.write(tensor.group, tensor.name, 0, std::as_bytes(std::span(values)));
  writer.close();
  write_manifest(m_dir, layout, {{"step", "12"}, {"config", "model:\n  layers: 2\n"}});
  auto const text = describe(m_dir);
  EXPECT_EQ(describe(m_dir / "checkpoint.h5"), text);
  for (auto const* line : {"  step        12\n", "  config      model: ...\n",
                           "  optimizer/m 6 values\n", "    wte.weight F32 [3, 2]\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
}

TEST_F(DescribeTest, a_text_is_cut_where_its_line_ends_or_behind_60_characters) {
  auto const layout = spread_evenly({{"model", "w", {2}}}, 1);
  ShardWriter writer(m_dir, 0, layout);
  std::array const values{1.0f, 2.0f};
  writer.write("model", "w", 0, std::as_bytes(std::span(values)));
  writer.close();
  auto const full = std::string(60, 'f'), over = std::string(61, 'o');
  write_manifest(m_dir, layout, {{"full", full}, {"over", over}, {"two", "a\nb"}, {"none", ""}});
  auto const text = describe(m_dir);
  EXPECT_NE(text.find("  full        " + full + "\n  none        \n  over        " +
                      over.substr(1) + " ...\n  two         a ...\n"),
            std::string::npos)
      << text;
  auto const before = fs::current_path();
  fs::current_path(m_dir);
  auto const from_inside = describe("checkpoint.h5");
  fs::current_path(before);
  EXPECT_EQ(from_inside.substr(0, from_inside.find('\n')), "checkpoint .");
}

TEST_F(DescribeTest, bytes_that_are_no_letters_are_dots_and_60_tokens_are_shown) {
  std::ofstream(m_dir / "a.txt") << "a~\x7f \x1f\xff" + std::string(70, 'b');
  test::tokenize_bytes(std::array{m_dir / "a.txt"}, Output(m_dir / "t.h5"), false);
  EXPECT_EQ(describe(m_dir / "t.h5"), "token file " + (m_dir / "t.h5").string() +
                                          " (HDF5)\n"
                                          "  tokens      76 of 8 bits\n"
                                          "  vocabulary  256 (byte)\n"
                                          "  documents   1\n"
                                          "  begins      a~. .." +
                                          std::string(54, 'b') + "\n");
}

TEST_F(DescribeTest, weights_show_names_types_and_shapes) {
  auto const directory = m_dir / "hf";
  SafetensorsWriter writer(
      directory,
      TensorList({{"wte.weight", ElementType::bf16, {3, 2}}, {"mask", ElementType::boolean, {}}}),
      10);
  writer.write(0, 0, std::array<std::byte, 12>{});
  writer.write(1, 0, std::array<std::byte, 1>{});
  writer.finish();
  auto const text = describe(directory);
  for (auto const* line : {"weights ", " in 2 files\n", "  values      7 in 2 tensors\n",
                           "    wte.weight BF16 [3, 2]\n", "    mask BOOL []\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
  EXPECT_NE(describe(directory / "model-00001-of-00002.safetensors").find(" 6 in 1 tensor\n"),
            std::string::npos);
  auto const last = directory / "model-00002-of-00002.safetensors";
  fs::resize_file(last, fs::file_size(last) - 1);
  try {
    describe(directory / "model.safetensors.index.json");
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::damaged);
    EXPECT_NE(std::string(error.what()).find("mask: ends"), std::string::npos) << error.what();
  }
}

TEST_F(DescribeTest, what_is_neither_is_bad_input) {
  std::ofstream(m_dir / "a.txt") << "int x;\n";
  for (fs::path const& path : {m_dir, m_dir / "a.txt", m_dir / "none"}) {
    try {
      describe(path);
      FAIL() << path;
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::bad_input);
    }
  }
}

}  // namespace
}  // namespace spillway::describe_test
