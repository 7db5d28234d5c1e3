// model.import in an input file.
#include <filesystem>

#include "config/load.hpp"
#include "config/print.hpp"
#include "huggingface/import_model.hpp"
#include "huggingface/match_tensors.hpp"
#include "huggingface/special_ids.hpp"
#include "tests/support/model_directory.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_import_model_test {
namespace {

namespace fs = std::filesystem;

class ImportModel : public testing::Test {
 protected:
  ImportModel() {
    fs::create_directories(m_directory);
    write("config.json", test::golden_config("qwen2-5"));
  }
  ~ImportModel() override { fs::remove_all(m_directory); }

  std::string directory() const { return m_directory.string(); }
  void write(char const* name, std::string const& text) const {
    std::ofstream(m_directory / name) << text;
  }
  // The same model as a golden one with other values of some keys.
  void write_config(std::string const& golden, test::Json const& change) const {
    auto file = test::Json::parse(test::golden_config(golden));
    file.update(change);
    write("config.json", file.dump());
  }
  Config load(std::string const& more, std::vector<std::string> const& overrides = {}) const {
    return parse_config("model: {import: " + directory() + more + "}\n", "in.yaml", overrides,
                        on_host, import_model);
  }
  std::string line(std::string const& more, std::vector<std::string> const& overrides = {}) const {
    return test::refused_with([&] { load(more, overrides); });
  }

 private:
  fs::path const m_directory = fs::path(testing::TempDir()) / "spillway_import_model";
};

TEST_F(ImportModel, fills_the_model_section) {
  auto const config = load(", dropout: 0.25", {"model.attention_dropout=0.5"});
  auto expected = describe_model(test::golden_config("qwen2-5"), "").model;
  expected.dropout = 0.25, expected.attention_dropout = 0.5;
  expected.import_from = directory();
  EXPECT_EQ(test::model_text(config.model), test::model_text(expected));
}

TEST_F(ImportModel, asks_for_the_weights_where_there_are_some) {
  EXPECT_EQ(load("").run.init, "");
  write("pytorch_model.bin", "PK");  // to read it fails, and says what to do
  EXPECT_EQ(load("").run.init, directory());
  auto const description = describe_model(test::golden_config("qwen2-5"), "");
  test::Tensors tensors;
  for (auto const& entry : parameters_of(description.model))
    tensors[entry.name] = {entry, std::string(static_cast<std::size_t>(size_bytes(entry)), '\0')};
  test::write_tensors(directory(), tensors);
  fs::remove(fs::path(directory()) / "pytorch_model.bin");
  EXPECT_EQ(load("").run.init, directory());
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
  auto const reason = ": model.import decides it; leave out one of them";
  EXPECT_EQ(line(", hidden: 24"), "in.yaml:1: model.hidden" + std::string(reason));
  EXPECT_EQ(line("", {"model.vocab=61"}), "command line: model.vocab" + std::string(reason));
}

TEST_F(ImportModel, what_is_wrong_with_the_file_is_said_of_the_file) {
  EXPECT_TRUE(line("/nowhere").ends_with("/nowhere is no directory of a model here"));
  write("config.json", "{}");
  EXPECT_TRUE(line("").starts_with(directory() + "/config.json: architectures: ")) << line("");
}

TEST_F(ImportModel, ids_that_the_input_leaves_open_are_those_of_the_directory) {
  write_config("t5-5", {{"pad_token_id", 3}, {"eos_token_id", {7, 2}}});
  write("tokenizer.json", R"({"model": {"vocab": {"a": 1, "a": [{"b": 2}]}}, "added_tokens": [
    {"id": 59, "content": "<extra_id_1>"}, {"id": 60, "content": "<extra_id_0>"}]})");
  auto const data = load("").data;
  EXPECT_EQ(data.pad_id, 3);
  EXPECT_EQ(data.eos_id, 7);
  EXPECT_EQ(data.sentinel_id, 60);
  EXPECT_FALSE(data.mask_id);
  EXPECT_EQ(load("", {"data.pad_id=5"}).data.pad_id, 5);
}

TEST_F(ImportModel, ids_of_a_config_are_those_of_its_vocabulary) {
  for (test::Json const& value : {test::Json(-1), test::Json(61), test::Json("3"), test::Json(),
                                  test::Json::array(), test::Json(18446744073709551615u)}) {
    write_config("t5-5", {{"pad_token_id", value}, {"eos_token_id", value}});
    EXPECT_FALSE(load("").data.pad_id) << value;
    EXPECT_FALSE(load("").data.eos_id) << value;
  }
  auto absent = test::Json::parse(test::golden_config("t5-5"));
  for (auto const* key : {"pad_token_id", "eos_token_id"}) absent.erase(key);
  write("config.json", absent.dump());
  EXPECT_EQ(load("").data.pad_id, 0);
  EXPECT_EQ(load("").data.eos_id, 1);
}

TEST_F(ImportModel, the_token_that_hides_others_is_found_in_any_file_of_a_tokenizer) {
  write_config("bert-5", {{"pad_token_id", 0}, {"eos_token_id", 66}});
  EXPECT_FALSE(load("").data.mask_id);
  write("vocab.txt", "[PAD]\r\n[MASK]2\r\n[MASK]\r\n");
  EXPECT_EQ(load("").data.mask_id, 2);
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "[PAD]"},
    "4": {"content": "[MASK]"}}})");
  EXPECT_EQ(load("").data.mask_id, 4);
  write("tokenizer.json", R"({"added_tokens": [{"id": 5, "content": "[MASK]"}], "model": {}})");
  auto const data = load("").data;
  EXPECT_EQ(data.mask_id, 5);
  EXPECT_EQ(data.eos_id, 66);
  EXPECT_FALSE(data.pad_id);  // is of another objective
  write("tokenizer.json", R"({"added_tokens": [{"id": 67, "content": "[MASK]"}]})");
  EXPECT_EQ(load("").data.mask_id, 4);
}

TEST_F(ImportModel, texts_end_where_generate_of_transformers_ends_them) {
  auto const description = describe_model(test::golden_config("llama-5"), "");
  auto const ends = [&](test::Json const& in_config, char const* generation, DataConfig data = {}) {
    write_config("llama-5", {{"eos_token_id", in_config}});
    fs::remove(fs::path(directory()) / "generation_config.json");
    if (generation != nullptr) write("generation_config.json", generation);
    if (!data.eos_id) data.eos_id = load("").data.eos_id;  // as in a run that is given no other
    return ends_of_texts(directory(), description, data);
  };
  using Ids = std::vector<std::int64_t>;
  EXPECT_EQ(ends({9, 3, 9}, nullptr), (Ids{3, 9}));
  EXPECT_EQ(ends(9, nullptr), Ids{9});
  EXPECT_EQ(ends(9, R"({"eos_token_id": [5, 4]})"), (Ids{4, 5}));
  EXPECT_EQ(ends(9, R"({"eos_token_id": 5})"), Ids{5});
  EXPECT_EQ(ends(9, "{}"), Ids{});
  EXPECT_EQ(ends({-1, 3, 61, "4"}, nullptr), Ids{3});
  EXPECT_EQ(ends(nullptr, nullptr), Ids{});
  DataConfig given;
  given.eos_id = 6;
  EXPECT_EQ(ends(9, R"({"eos_token_id": [5, 4]})", given), (Ids{4, 5, 6}));
  EXPECT_EQ(ends(9, nullptr, given), (Ids{6, 9}));
  auto t5 = test::Json::parse(test::golden_config("t5-5"));  // transformers' own default is 1
  t5.erase("eos_token_id");
  write("config.json", t5.dump());
  fs::remove(fs::path(directory()) / "generation_config.json");
  EXPECT_EQ(ends_of_texts(directory(), describe_model(t5.dump(), ""), load("").data), Ids{1});
}

TEST_F(ImportModel, a_decoder_starts_as_generation_config_says_or_else_config) {
  write_config("t5-5", {{"pad_token_id", 3}, {"decoder_start_token_id", 3}});
  EXPECT_EQ(read_generation_ids(directory(), 61).start, 3);
  write("generation_config.json", R"({"decoder_start_token_id": 8})");
  EXPECT_EQ(read_generation_ids(directory(), 61).start, 8);
  EXPECT_FALSE(read_generation_ids(directory(), 8).start);
}

TEST_F(ImportModel, what_generate_does_not_follow_of_generation_config_is_named) {
  auto const named = [&](char const* generation) {
    write("generation_config.json", generation);
    return read_generation_ids(directory(), 61).not_followed;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(named(R"({"do_sample": true, "temperature": 0.6, "top_p": 0.9, "num_beams": 1,
    "repetition_penalty": 1.0, "suppress_tokens": [], "forced_eos_token_id": null})"),
            Names{});
  EXPECT_EQ(named(R"({"repetition_penalty": 1.1, "num_beams": 4, "forced_eos_token_id": 0})"),
            (Names{"repetition_penalty", "num_beams", "forced_eos_token_id"}));
}

TEST_F(ImportModel, an_adapter_beside_the_weights_is_refused) {
  write("adapter_config.json", R"({"peft_type": "LORA"})");
  EXPECT_NE(line("").find("/adapter_config.json: an adapter is not applied to weights here"),
            std::string::npos)
      << line("");
}

TEST_F(ImportModel, a_tokenizer_that_is_no_json_is_named) {
  write("config.json", test::golden_config("bert-5"));
  for (auto const* text :
       {"[]", "{", R"({"model": {}, "model": {}})", R"({"a": {"b": 1, "b": 1}})"}) {
    write("tokenizer.json", text);
    EXPECT_TRUE(line("").starts_with(directory() + "/tokenizer.json: ")) << line("");
  }
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
}  // namespace spillway::huggingface_import_model_test
