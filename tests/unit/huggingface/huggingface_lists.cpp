// Every entry of the lists of docs/huggingface.md: keys that are left out, second names, files
// beside the weights, what generate does not follow; and what positions may say beside what they
// need.
#include <filesystem>
#include <optional>

#include "huggingface/model_files.hpp"
#include "huggingface/special_ids.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_lists_test {
namespace {

namespace fs = std::filesystem;
using enum Architecture;
using test::config_of;
using test::described;
using test::Json;
using test::model_text;
using Architectures = std::vector<Architecture>;

// Empty: the file is refused.
std::string text_with(Architecture architecture, Json const& change) {
  auto file = config_of(architecture);
  file.update(change);
  return test::refusal(file.dump()).empty() ? model_text(described(file)) : "";
}

TEST(LeftOutKeys, of_some_architectures_are_refused_by_all_others) {
  Architectures const llamas = {llama, qwen2, qwen3, mistral, ministral}, gpt = {gpt2};
  std::vector<std::pair<std::string, Architectures>> const cases = {
      {"reorder_and_upcast_attn", gpt},
      {"n_special", gpt},
      {"predict_special_tokens", gpt},
      {"n_positions", {t5}},
      {"max_position_embeddings", llamas},
      {"max_sequence_length", llamas},
      {"is_llama_config", llamas},
      {"directionality", {bert}},
      {"pooler_", {bert}},
      {"pooler_fc_size", {bert}},
      {"tie_last_hidden_states", {kArchitectures.begin(), kArchitectures.end()}},
      {"decoder_start_token_id", {gpt2, bert, llama, qwen2, qwen3, mistral, ministral}},
      {"pooler", {}},
      {"min_len", {}},
  };
  for (auto const& [key, leaving] : cases) {
    for (auto const architecture : kArchitectures) {
      bool const is_own = (key == "n_positions" && architecture == gpt2) ||
                          (key == "max_position_embeddings" && architecture == bert);
      if (is_own) continue;
      bool const leaves = std::ranges::count(leaving, architecture) > 0;
      EXPECT_EQ(text_with(architecture, {{key, 77}}),
                leaves ? text_with(architecture, Json::object()) : "")
          << key << " " << class_name(architecture);
    }
  }
}

TEST(LeftOutKeys, that_are_second_names_must_say_what_the_first_does) {
  struct Case {
    Architecture architecture;
    std::string alias, key;
    int fallback, other;
  };
  for (auto const& [architecture, alias, key, fallback, other] :
       {Case{gpt2, "hidden_size", "n_embd", 768, 24},
        Case{gpt2, "max_position_embeddings", "n_positions", 1024, 64},
        Case{gpt2, "num_attention_heads", "n_head", 12, 6},
        Case{gpt2, "num_hidden_layers", "n_layer", 12, 3},
        Case{t5, "hidden_size", "d_model", 512, 24},
        Case{t5, "num_attention_heads", "num_heads", 8, 3},
        Case{t5, "num_hidden_layers", "num_layers", 6, 2}, Case{t5, "head_dim", "d_kv", 64, 7}}) {
    EXPECT_EQ(text_with(architecture, {{alias, fallback}}), text_with(architecture, Json::object()))
        << alias;
    EXPECT_EQ(text_with(architecture, {{alias, other}}), "") << alias;
    auto const both = text_with(architecture, {{key, other}, {alias, other}});
    EXPECT_NE(both, "") << alias;
    EXPECT_EQ(both, text_with(architecture, {{key, other}})) << alias;
    EXPECT_EQ(text_with(architecture, {{key, other}, {alias, fallback}}), "") << alias;
  }
}

TEST(RotaryPositions, may_say_twice_or_besides_what_changes_nothing) {
  Json const linear = {{"rope_type", "linear"}, {"factor", 2}};
  auto const plain = text_with(llama, {{"rope_scaling", linear}});
  EXPECT_NE(plain, "");
  auto also = linear;
  also.update({{"type", "linear"},
               {"beta_fast", nullptr},
               {"truncate", false},
               {"partial_rotary_factor", 1.0},
               {"rope_theta", 10000}});
  for (Json const& change :
       {Json{{"rope_parameters", linear}},
        Json{{"rope_scaling", linear}, {"rope_parameters", linear}, {"partial_rotary_factor", 1}},
        Json{{"rope_scaling", also}},
        Json{{"rope_scaling", also}, {"rope_theta", 10000.0}, {"partial_rotary_factor", nullptr}},
        Json{{"rope_scaling", linear}, {"rope_parameters", nullptr}, {"rope_theta", 1e4}}})
    EXPECT_EQ(text_with(llama, change), plain) << change;
}

TEST(RotaryPositions, of_ministral_reach_as_far_as_those_of_mistral) {
  auto file = config_of(ministral);
  file["rope_scaling"] = {
      {"rope_type", "llama3"}, {"factor", 8}, {"low_freq_factor", 1}, {"high_freq_factor", 4}};
  EXPECT_EQ(described(file).rope_original_positions, 131072);
}

class ListedFiles : public testing::Test {
 protected:
  ListedFiles() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir);
  }
  ~ListedFiles() override { fs::remove_all(m_dir); }
  void write(std::string const& name, std::string const& text) const {
    std::ofstream(m_dir / name) << text;
  }
  std::string refusal() const {
    return test::refused_with([&] { read_model_files(m_dir); });
  }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway_listed_files";
};

TEST_F(ListedFiles, are_all_that_tokenizers_and_processors_of_transformers_read) {
  std::vector<std::string> names = {"config.json",
                                    "generation_config.json",
                                    "chat_template.jinja",
                                    "chat_template.json",
                                    "tokenizer_config.json",
                                    "special_tokens_map.json",
                                    "processor_config.json",
                                    "preprocessor_config.json",
                                    "tokenizer.json",
                                    "added_tokens.json",
                                    "vocab.json",
                                    "merges.txt",
                                    "vocab.txt",
                                    "vocab.bpe",
                                    "encoder.json",
                                    "tokenizer.model",
                                    "tokenizer.model.v1",
                                    "tokenizer.model.v2",
                                    "tokenizer.model.v3",
                                    "tokenizer.model.v7",
                                    "tekken.json",
                                    "spiece.model",
                                    "spm.model",
                                    "sentencepiece.model",
                                    "sentencepiece.bpe.model",
                                    "spm_char.model",
                                    "prophetnet.tokenizer",
                                    "dict.txt",
                                    "emoji.json",
                                    "entity_vocab.json"};
  for (auto const& name : names) write(name, '"' + name + '"');
  auto const files = read_model_files(m_dir);
  ASSERT_EQ(files.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(is_model_file(names[i])) << names[i];
    EXPECT_EQ(files[i].name, names[i]);
    EXPECT_EQ(files[i].text, '"' + names[i] + '"');
  }
}

// The first byte says a field of bytes, the second how many follow, if they are fewer than 128.
TEST_F(ListedFiles, of_sentencepiece_begin_with_a_whole_piece) {
  std::string const bytes = "\xff\xfe\xfd";
  for (auto const* const name : {"spiece.model", "tokenizer.model.v3"}) {
    auto const why = (m_dir / name).string() + ": is neither a model of SentencePiece nor text";
    for (auto const& [text, is_sound] :
         {std::pair("\x0a\x03" + bytes, true), std::pair("\x0a\x04" + bytes, false),
          std::pair("\x0a\x02" + bytes, true), std::pair("\x0a\x80" + bytes, true),
          std::pair("\x0a\xff" + bytes, true), std::pair("\x12\x03" + bytes, false),
          std::pair(bytes, false), std::pair(std::string("\xff"), false),
          std::pair(std::string(), true), std::pair(std::string("text"), true)}) {
      write(name, text);
      EXPECT_EQ(refusal(), is_sound ? "" : why) << name << testing::PrintToString(text);
    }
    fs::remove(m_dir / name);
  }
}

TEST_F(ListedFiles, are_at_most_64_mib_each_and_128_in_all) {
  write("vocab.txt", std::string(64 << 20, 'a'));
  fs::create_hard_link(m_dir / "vocab.txt", m_dir / "merges.txt");
  EXPECT_EQ(read_model_files(m_dir).size(), 2u);
  write("dict.txt", "a");
  EXPECT_EQ(refusal(), m_dir.string() +
                           ": the files beside its weights have more than 134217728 bytes in all");
}

TEST_F(ListedFiles, of_generation_are_followed_where_they_change_nothing) {
  std::vector<std::pair<std::string, int>> const neutrals = {
      {"repetition_penalty", 1},
      {"encoder_repetition_penalty", 1},
      {"num_beams", 1},
      {"no_repeat_ngram_size", 0},
      {"encoder_no_repeat_ngram_size", 0},
      {"min_length", 0},
      {"min_new_tokens", 0},
      {"guidance_scale", 1},
      {"bad_words_ids", 0},
      {"sequence_bias", 0},
      {"suppress_tokens", 0},
      {"begin_suppress_tokens", 0},
      {"forced_bos_token_id", -1},
      {"forced_eos_token_id", -1},
      {"exponential_decay_length_penalty", 0}};
  Json same, other;
  std::vector<std::string> names;
  for (auto const& [name, neutral] : neutrals) {
    same[name] = neutral, other[name] = neutral + 1;
    names.push_back(name);
  }
  write("config.json", "{}");
  write("generation_config.json", same.dump());
  EXPECT_EQ(read_generation_ids(m_dir, 61).not_followed, std::vector<std::string>());
  write("generation_config.json", other.dump());
  EXPECT_EQ(read_generation_ids(m_dir, 61).not_followed, names);
}

// An id is a whole number of the vocabulary: others are as good as none.
TEST_F(ListedFiles, of_generation_say_ids_as_whole_numbers) {
  write("config.json", "{}");
  auto const ids = [&](std::string const& text) {
    write("generation_config.json", text);
    return read_generation_ids(m_dir, 61);
  };
  using Ids = std::vector<std::int64_t>;
  EXPECT_EQ(ids(R"({"eos_token_id": [60, 0, 61, 7.0, "8", null, true]})").ends, (Ids{60, 0}));
  EXPECT_EQ(ids(R"({"eos_token_id": 60, "decoder_start_token_id": 60})").ends, Ids{60});
  EXPECT_EQ(ids(R"({"decoder_start_token_id": 60})").start, 60);
  EXPECT_EQ(ids(R"({"decoder_start_token_id": 61})").start, std::nullopt);
  EXPECT_EQ(ids(R"({"decoder_start_token_id": -1})").start, std::nullopt);
  EXPECT_EQ(ids(R"({"decoder_start_token_id": 0})").start, 0);
}

// A token may stand alone on the last line; lines before it count from 0.
TEST_F(ListedFiles, of_words_give_each_line_an_id) {
  write("config.json", "{}");
  ModelDescription const model = {bert, described(config_of(bert))};
  for (auto const& [text, id] : {std::pair("[MASK]", 0), std::pair("a\n\n[UNK]\n[MASK]\nb\n", 3),
                                 std::pair("[MASK] \n[MASK]\n[MASK]\n", 1)}) {
    write("vocab.txt", text);
    DataConfig data;
    read_special_ids(m_dir, model, data);
    EXPECT_EQ(data.mask_id, id) << text;
  }
}

}  // namespace
}  // namespace spillway::huggingface_lists_test
