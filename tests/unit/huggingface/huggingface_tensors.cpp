// Which tensors of a Hugging Face directory become which of a checkpoint's, by names and shapes
// alone; and in what types they are saved.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "huggingface/export_model.hpp"
#include "huggingface/match_tensors.hpp"
#include "huggingface/tensor_types.hpp"
#include "tests/support/model_directory.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::huggingface_tensors_test {
namespace {

ModelDescription described(std::string const& name) {
  for (auto const& model : test::directory_cases())
    if (model.name == name) return describe_model(model.config, name);
  throw std::logic_error(name);
}

ModelDescription with_tied(std::string const& name, bool tied) {
  auto description = described(name);
  description.model.tied = tied;
  return description;
}

// A file with the parameters of a model, changed.
class Files {
 public:
  explicit Files(ModelDescription const& description)
      : m_description(description), m_entries(parameters_of(description.model)) {}

  Files& add(std::string name, std::vector<std::int64_t> shape) {
    m_entries.push_back({std::move(name), ElementType::f32, std::move(shape)});
    return *this;
  }
  Files& rename_all(std::string const& before, std::string const& now) {
    for (auto& entry : m_entries) {
      auto const at = entry.name.find(before);
      if (at != std::string::npos) entry.name.replace(at, before.size(), now);
    }
    return *this;
  }
  Files& remove(std::string const& name) {
    EXPECT_EQ(std::erase_if(m_entries, [&](auto const& entry) { return entry.name == name; }), 1u);
    return *this;
  }
  Files& reshape(std::string const& name, std::vector<std::int64_t> shape) {
    for (auto& entry : m_entries)
      if (entry.name == name) entry.shape = shape;
    return *this;
  }

  MatchedModel match(bool all_are_equal = true) const {
    return match_tensors(m_description, TensorList(m_entries), "here",
                         [&](auto, auto) { return all_are_equal; });
  }
  // The name in the file of what is matched as `name`; empty: nothing is.
  std::string matched(std::string const& name, bool all_are_equal = true) const {
    for (auto const& tensor : match(all_are_equal).tensors)
      if (tensor.name == name) return m_entries[tensor.number].name;
    return "";
  }
  std::string refusal(bool all_are_equal = true) const {
    return test::refused_with([&] { match(all_are_equal); });
  }

 private:
  ModelDescription m_description;
  std::vector<TensorEntry> m_entries;
};

TEST(HuggingFaceTensors, have_the_names_of_checkpoints) {
  for (auto const& model : test::directory_cases()) {
    auto const description = describe_model(model.config, model.name);
    auto const matched = Files(description).match();
    auto const parameters = parameters_of(description.model);
    ASSERT_EQ(matched.tensors.size(), parameters.size()) << model.name;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      EXPECT_EQ(matched.tensors[i], (NamedTensor{parameters[i].name, i})) << model.name;
    EXPECT_EQ(matched.model.tied, description.model.tied) << model.name;
  }
}

TEST(HuggingFaceTensors, of_a_bare_gpt2_have_no_prefix) {
  Files files(described("gpt2"));
  files.rename_all("transformer.", "");
  EXPECT_EQ(files.matched("transformer.h.1.ln_1.bias"), "h.1.ln_1.bias");
  files.add("transformer.wte.weight", {400, 24});
  EXPECT_EQ(files.refusal(), "here: transformer.wte.weight: is there as wte.weight too");
}

TEST(HuggingFaceTensors, of_a_bare_gpt2_have_a_head_of_its_own_name) {
  Files files(with_tied("gpt2", false));
  files.rename_all("transformer.", "");
  EXPECT_EQ(files.matched("lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(files.matched("transformer.wte.weight"), "wte.weight");
  EXPECT_FALSE(files.match().model.tied);
}

TEST(HuggingFaceTensors, of_an_old_bert_call_their_norms_otherwise) {
  Files files(described("bert"));
  files.rename_all("LayerNorm.weight", "LayerNorm.gamma");
  files.rename_all("LayerNorm.bias", "LayerNorm.beta");
  EXPECT_EQ(files.matched("bert.embeddings.LayerNorm.weight"), "bert.embeddings.LayerNorm.gamma");
}

TEST(HuggingFaceTensors, that_nothing_depends_on_are_left_out_by_name) {
  struct Case {
    std::string model, left_out, refused;
  };
  std::vector<Case> const cases = {
      {"gpt2", "transformer.h.11.attn.bias", "transformer.h.0.attn.bias2"},
      {"gpt2", "h.0.attn.masked_bias", "transformer.h.x.attn.bias"},
      {"bert", "bert.pooler.dense.weight", "bert.pooler.other"},
      {"bert", "cls.seq_relationship.bias", "cls.seq_relationships"},
      {"bert", "bert.embeddings.position_ids", "bert.embeddings.position_id"},
      {"t5", "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
       "decoder.block.1.layer.1.EncDecAttention.relative_attention_bias.weight"},
      {"qwen3", "model.layers.0.self_attn.rotary_emb.inv_freq", "model.layers..rotary_emb"}};
  for (auto const& [model, left_out, refused] : cases) {
    auto const description = described(model);
    EXPECT_EQ(Files(description).add(left_out, {3}).match().tensors,
              Files(description).match().tensors);
    EXPECT_EQ(Files(description).add(refused, {3}).refusal(),
              "here: " + refused +
                  ": no tensor of this model has the name, and it is none of those that may be "
                  "left out");
  }
}

TEST(HuggingFaceTensors, that_are_missing_or_of_another_shape_are_refused) {
  Files missing(described("llama"));
  EXPECT_EQ(missing.remove("model.norm.weight").refusal(), "here: model.norm.weight: is not there");
  Files other(described("llama"));
  EXPECT_EQ(other.reshape("model.layers.1.mlp.up_proj.weight", {24, 44}).refusal(),
            "here: model.layers.1.mlp.up_proj.weight: is [24, 44] there, and [44, 24] in this "
            "model");
  Files untied(described("llama"));
  EXPECT_EQ(untied.remove("lm_head.weight").refusal(), "here: lm_head.weight: is not there");
}

TEST(HuggingFaceTensors, a_tied_head_that_is_there_too_is_left_out_only_if_it_is_equal) {
  for (auto const* name : {"gpt2", "qwen2"}) {
    Files files(with_tied(name, true));
    files.add("lm_head.weight", {400, 24});
    EXPECT_EQ(files.matched("lm_head.weight"), "");
    EXPECT_TRUE(files.match().model.tied);
    EXPECT_EQ(files.matched("lm_head.weight", false), "lm_head.weight");
    EXPECT_FALSE(files.match(false).model.tied);
  }
  Files wrong(with_tied("gpt2", true));
  EXPECT_NE(wrong.add("lm_head.weight", {24, 400}).refusal(false).find("lm_head.weight: is [24,"),
            std::string::npos);
}

TEST(HuggingFaceTensors, an_untied_head_stays_even_if_it_is_equal) {
  EXPECT_FALSE(Files(with_tied("gpt2", false)).match(true).model.tied);
}

TEST(HuggingFaceTensors, the_file_says_whether_t5_is_tied) {
  for (bool const all_are_equal : {true, false}) {
    auto told_tied = Files(with_tied("t5", true)).add("lm_head.weight", {400, 24});
    EXPECT_EQ(told_tied.match(all_are_equal).model.tied, all_are_equal);
    EXPECT_FALSE(Files(with_tied("t5", false)).match(all_are_equal).model.tied);
  }
  auto told_untied = with_tied("t5", true);
  Files without_head(told_untied);
  told_untied.model.tied = false;
  EXPECT_TRUE(Files(told_untied).remove("lm_head.weight").match(false).model.tied);
}

TEST(HuggingFaceTensors, copies_of_t5s_words_are_left_out_and_must_be_equal) {
  for (auto const* name : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}) {
    Files files(with_tied("t5", true));
    files.add(name, {400, 24});
    EXPECT_EQ(files.matched(name), "");
    EXPECT_EQ(files.refusal(false), "here: " + std::string(name) + ": differs from shared.weight");
  }
}

TEST(HuggingFaceTensors, a_table_of_words_may_have_the_name_of_its_copy_alone) {
  std::pair<std::string, std::string> const heads[] = {
      {"gpt2", "transformer.wte.weight"},
      {"bert", "bert.embeddings.word_embeddings.weight"},
      {"t5", "shared.weight"},
      {"qwen2", "model.embed_tokens.weight"}};
  for (auto const& [name, words] : heads) {
    std::string const head = name == "bert" ? "cls.predictions.decoder.weight" : "lm_head.weight";
    auto tied = Files(with_tied(name, true)).rename_all(words, head);
    EXPECT_EQ(tied.matched(words), head);
    EXPECT_TRUE(tied.match().model.tied) << name;
    auto untied = Files(with_tied(name, false)).remove(words);
    EXPECT_EQ(untied.refusal(), "here: " + words + ": is not there");
  }
}

TEST(HuggingFaceTensors, words_of_t5_may_be_those_of_a_stack_alone) {
  std::string const words = "shared.weight", encoder = "encoder.embed_tokens.weight",
                    decoder = "decoder.embed_tokens.weight";
  for (bool const tied : {true, false}) {
    for (auto const& name : {encoder, decoder}) {
      auto one = Files(with_tied("t5", tied)).rename_all(words, name);
      EXPECT_EQ(one.matched(words), name);
      EXPECT_EQ(one.match().model.tied, tied);
    }
    auto both = Files(with_tied("t5", tied)).rename_all(words, encoder).add(decoder, {400, 24});
    EXPECT_EQ(both.matched(words), encoder);
    EXPECT_EQ(both.refusal(false), "here: " + decoder + ": differs from " + words);
  }
}

TEST(HuggingFaceTensors, what_is_added_to_berts_logits_is_the_heads_own_bias) {
  std::string const head = "cls.predictions.decoder.weight", own = "cls.predictions.decoder.bias",
                    shared = "cls.predictions.bias";
  Files tied(with_tied("bert", true));
  EXPECT_EQ(tied.matched(shared), shared);
  tied.add(own, {400});
  EXPECT_EQ(tied.matched(shared), own);
  EXPECT_EQ(tied.add(head, {400, 24}).matched(own, false), own);

  Files untied(with_tied("bert", false));
  EXPECT_EQ(untied.add(shared, {400}).matched(own), own);
  EXPECT_EQ(untied.remove(own).refusal(), "here: " + own + ": is not there");

  Files denied(with_tied("bert", true));  // configuration says tied, Google's own files differ
  EXPECT_EQ(denied.add(head, {400, 24}).matched(own, false), shared);
}

TEST(HuggingFaceTensors, of_an_untied_bert_are_exported_with_the_bias_that_nothing_uses) {
  auto const description = with_tied("bert", false);
  TensorList const tensors(parameters_of(description.model));
  auto const exported = exported_tensors(description, tensors, "here");
  EXPECT_EQ(exported.size(), tensors.size() + 1);
  EXPECT_EQ(exported.back(),
            (NamedTensor{"cls.predictions.bias", *tensors.find("cls.predictions.decoder.bias")}));
}

TEST(TensorTypes, are_one_and_exceptions) {
  TensorList const tensors({{"a", ElementType::f32, {2, 2}},
                            {"b", ElementType::bf16, {5}},
                            {"c", ElementType::f16, {1}}});
  auto const types = types_of(tensors);
  EXPECT_EQ(types.usual, ElementType::bf16);
  EXPECT_EQ(types.exceptions.size(), 2u);
  for (auto const& tensor : tensors) EXPECT_EQ(types.of(tensor.name), tensor.type);
  EXPECT_EQ(types_from_json(to_json(types), "here"), types);
}

TEST(TensorTypes, that_cannot_be_are_refused) {
  for (auto const* text :
       {"", "{}", "[]", R"({"usual": "BF16"})", R"({"usual": 1})",
        R"({"usual": "I64", "exceptions": {}})", R"({"usual": "F32", "exceptions": {"a": "F7"}})",
        R"({"usual": "F32", "exceptions": [3]})"}) {
    EXPECT_THROW(types_from_json(text, "here"), Error) << text;
  }
}

}  // namespace
}  // namespace spillway::huggingface_tensors_test
