// model.import in an input file.
#include <filesystem>

#include "config/load.hpp"
#include "config/print.hpp"
#include "huggingface/import_model.hpp"
#include "tests/unit/huggingface_case.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

class ImportModel : public testing::Test {
 protected:
  ImportModel() {
    fs::create_directories(m_directory);
    std::ofstream(m_directory / "config.json") << test::golden_config("qwen2-5");
  }
  ~ImportModel() override { fs::remove_all(m_directory); }

  std::string directory() const { return m_directory.string(); }
  Config load(std::string const& more, std::vector<std::string> const& overrides = {}) const {
    return parse_config("model: {import: " + directory() + more + "}\n", "in.yaml", overrides,
                        on_host, import_model);
  }
  std::string line(std::string const& more, std::vector<std::string> const& overrides = {}) const {
    try {
      load(more, overrides);
    } catch (Error const& error) {
      return error.what();
    }
    return "";
  }

 private:
  fs::path const m_directory = fs::path(testing::TempDir()) / "spillway_import_model";
};

TEST_F(ImportModel, fills_the_model_section_and_asks_for_the_weights) {
  auto const config = load(", dropout: 0.25", {"model.attention_dropout=0.5"});
  auto expected = describe_model(test::golden_config("qwen2-5"), "").model;
  expected.dropout = 0.25, expected.attention_dropout = 0.5;
  EXPECT_EQ(test::model_text(config.model), test::model_text(expected));
  EXPECT_EQ(config.run.init, directory());
}

// A run's config.yaml does not need the directory's config.json any more.
TEST_F(ImportModel, is_written_as_the_model_that_it_was) {
  auto const config = load("");
  auto const again = parse_config(to_yaml(config), "config.yaml");
  EXPECT_EQ(to_yaml(again), to_yaml(config));
  EXPECT_EQ(again.model.hidden, 24);
}

TEST_F(ImportModel, weights_that_the_input_names_win) {
  EXPECT_EQ(load("", {"run.init=mine/"}).run.init, "mine/");
}

TEST_F(ImportModel, other_keys_of_the_model_are_refused_beside_it) {
  auto const reason = ": config.json of model.import decides it; leave out one of them";
  EXPECT_EQ(line(", hidden: 24"), "in.yaml:1: model.hidden" + std::string(reason));
  EXPECT_EQ(line("", {"model.vocab=61"}), "command line: model.vocab" + std::string(reason));
}

TEST_F(ImportModel, what_is_wrong_with_the_file_is_said_of_the_file) {
  EXPECT_NE(line("/nowhere").find("/nowhere/config.json"), std::string::npos) << line("/nowhere");
  std::ofstream(fs::path(directory()) / "config.json") << "{}";
  EXPECT_TRUE(line("").starts_with(directory() + "/config.json: architectures: ")) << line("");
}

// Keys of other sections are held against the model that is imported.
TEST_F(ImportModel, lists_of_a_plan_have_room_for_its_layers) {
  auto const three = std::vector<std::string>{"plan.activations=[keep,recompute,keep]"};
  auto const four = std::vector<std::string>{"plan.activations=[keep,keep,keep,keep]"};
  EXPECT_EQ(line("", three), "");
  EXPECT_EQ(line("", four), "command line: plan.activations: a list of 4 for model.layers = 3");
}

TEST_F(ImportModel, is_refused_where_nobody_can_read_it) {
  try {
    parse_config("model: {import: dir}", "config.yaml");
    FAIL() << "is read";
  } catch (Error const& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("config.yaml:1: model.import: is for input"));
  }
}

}  // namespace
}  // namespace spillway
