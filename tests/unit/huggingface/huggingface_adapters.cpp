// Directories of PEFT, written and read, and adapters that are merged into a model's weights.
#include <fmt/format.h>

#include <fstream>
#include <numeric>

#include "huggingface/adapter_directory.hpp"
#include "huggingface/export_adapter.hpp"
#include "huggingface/import_model.hpp"
#include "huggingface/match_tensors.hpp"
#include "huggingface/merged_source.hpp"
#include "huggingface/model_directory.hpp"
#include "io/safetensors/reader.hpp"
#include "io/safetensors/writer.hpp"
#include "model/adapters.hpp"
#include "tests/support/in_directory.hpp"
#include "tests/support/in_memory_source.hpp"
#include "tests/support/model_directory.hpp"
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_adapters_test {
namespace {

namespace fs = std::filesystem;

using test::InMemory, test::Json;

class Adapters : public test::InDirectory {
 protected:
  Adapters() {
    for (auto const& model : test::directory_cases())
      if (model.name == "gpt2" || model.name == "llama" || model.name == "bert")
        test::write_model_directory(m_dir / model.name, model);
  }

  // The model of a directory with these adapters, and weights that differ from each other.
  ModelConfig adapted(std::string const& name, std::vector<std::string> targets) const {
    auto config = ModelDirectory(m_dir / name).config();
    config.model.lora = {.rank = 2, .alpha = 6, .targets = std::move(targets), .dropout = 0.25};
    complete_lora(config.model);
    return config.model;
  }
  static InMemory weights_of(ModelConfig const& model) {
    InMemory source(parameters_of(model));
    for (std::size_t t = 0; t < source.tensors().size(); ++t)
      for (std::size_t i = 0; i < source.values(t).size(); ++i)
        source.values(t)[i] = static_cast<float>((7 * t + 3 * i) % 61) / 64 - 0.5F;
    return source;
  }
  fs::path exported(std::string const& name, ModelConfig const& model) const {
    auto weights = weights_of(model);
    auto const to = m_dir / (name + "-adapter");
    export_adapter(weights, model, (m_dir / name).string(), {}, to,
                   [](fs::path const&) { return true; });
    return to;
  }
  static Json config_in(fs::path const& directory) {
    return Json::parse(std::ifstream(directory / "adapter_config.json"));
  }
};

TEST_F(Adapters, that_are_exported_are_read_as_they_were) {
  for (auto const& [name, targets] :
       {std::pair("llama", std::vector<std::string>{"q", "v"}),
        std::pair("llama", std::vector<std::string>{"down", "gate", "k"}),
        std::pair("gpt2", std::vector<std::string>{"qkv"}),
        std::pair("gpt2", std::vector<std::string>{"o"})}) {
    auto const model = adapted(name, targets);
    auto const directory = exported(name, model);
    EXPECT_TRUE(is_adapter_directory(directory));
    AdapterDirectory adapters(directory);
    auto weights = weights_of(model);
    std::size_t found = 0;
    for (std::size_t t = 0; t < weights.tensors().size(); ++t) {
      auto const there = adapters.tensors().find(weights.tensors()[t].name);
      EXPECT_EQ(there.has_value(), adapted_layer(weights.tensors()[t].name).has_value());
      if (!there) continue;
      ++found;
      std::vector<float> values(weights.values(t).size());
      read_floats(adapters, *there, 0, values);
      EXPECT_EQ(values, weights.values(t)) << weights.tensors()[t].name;
    }
    EXPECT_EQ(found, adapters.tensors().size());
    auto back = import_model(directory.string());
    complete_lora(back.model);
    EXPECT_EQ(test::model_text(back.model), test::model_text(model));
    EXPECT_EQ(back.run.init, directory.string());
  }
}

TEST_F(Adapters, are_named_by_the_shortest_ends_that_mean_them) {
  auto const targets = [&](std::string const& name, std::vector<std::string> const& asked) {
    return config_in(exported(name, adapted(name, asked))).at("target_modules");
  };
  EXPECT_EQ(targets("llama", {"q", "v"}), (Json{"q_proj", "v_proj"}));
  EXPECT_EQ(targets("gpt2", {"o", "down"}), Json{"c_proj"});
  EXPECT_EQ(targets("gpt2", {"o"}), Json{"attn.c_proj"});
  // BERT's attention.output.dense and output.dense end alike in two parts.
  EXPECT_EQ(targets("bert", {"down"}),
            (Json{"bert.encoder.layer.0.output.dense", "bert.encoder.layer.1.output.dense"}));
}

TEST_F(Adapters, of_other_forms_are_refused_by_their_key) {
  auto const directory = exported("llama", adapted("llama", {"q"}));
  auto const file = directory / "adapter_config.json";
  auto const sound = config_in(directory);
  auto const said = [&](char const* key, Json const& value) {
    auto config = sound;
    config[key] = value;
    std::ofstream(file) << config.dump();
    auto const error = error_of([&] { AdapterDirectory{directory}; });
    EXPECT_TRUE(error.status() == Status::done || error.status() == Status::bad_input);
    std::string const line = error.what();
    return line.starts_with(file.string()) ? line.substr(file.string().size()) : line;
  };
  EXPECT_EQ(said("use_dora", false), "no error");
  EXPECT_EQ(said("use_dora", true),
            ": use_dora: true is not known here; plain LoRA of linear layers is");
  EXPECT_EQ(said("bias", "all"),
            ": bias: \"all\" is not known here; plain LoRA of linear layers is");
  EXPECT_EQ(said("rank_pattern", {{"q_proj", 3}}).substr(0, 15), ": rank_pattern:");
  EXPECT_EQ(said("peft_type", "IA3"), ": peft_type: IA3 is not known here; LORA is");
  EXPECT_EQ(said("r", "four"), ": r: is no integer");
  EXPECT_EQ(said("init_lora_weights", "gaussian"), "no error");
  EXPECT_TRUE(said("init_lora_weights", "pissa_niter_4")
                  .starts_with(": init_lora_weights: \"pissa_niter_4\" may have changed the base"));
  EXPECT_EQ(said("alora_invocation_tokens", {1, 2}).substr(0, 26), ": alora_invocation_tokens:");
  EXPECT_EQ(said("base_model_name_or_path", "org/model"),
            ": base_model_name_or_path: org/model is no directory of a model here; of the Hugging "
            "Face hub nothing is fetched: `hf download org/model --local-dir DIR` does (or "
            "huggingface-cli download); write there where it is, or say it: --base DIR, for train "
            "and plan model.import=DIR beside run.init=" +
                directory.string() + " and its model.lora");
}

TEST_F(Adapters, have_their_base_where_they_say_beside_them_or_where_it_is_given) {
  auto const directory = exported("llama", adapted("llama", {"q"}));
  auto config = config_in(directory);
  auto const name_base = [&](std::string const& base) {
    config["base_model_name_or_path"] = base;
    std::ofstream(directory / "adapter_config.json") << config.dump();
  };
  name_base("../llama");
  EXPECT_EQ(AdapterDirectory(directory).base(), directory / "../llama");
  EXPECT_FALSE(AdapterDirectory(directory, {"", {(m_dir / "llama").string()}}).is_beside_start());
  name_base("gone");
  AdapterDirectory const at_start(directory, {"", {"none", (m_dir / "llama").string()}});
  EXPECT_EQ(at_start.base(), m_dir / "llama");
  EXPECT_TRUE(at_start.is_beside_start());
  EXPECT_EQ(AdapterDirectory(directory, {(m_dir / "llama").string(), {}}).base(), m_dir / "llama");
  EXPECT_NE(error_of([&] {
              AdapterDirectory(directory, {"gone", {(m_dir / "llama").string()}});
            }).status(),
            Status::done);
}

TEST_F(Adapters, are_described_whether_or_not_their_base_is_here) {
  auto const directory = exported("llama", adapted("llama", {"q", "v"}));
  fs::remove_all(m_dir / "llama");
  EXPECT_EQ(describe_adapters(directory),
            "adapters " + directory.string() +
                " (PEFT)\n  rank        2\n  alpha       6\n  dropout     0.25\n"
                "  targets     q_proj, v_proj\n  base        " +
                (m_dir / "llama").string() + "\n");
}

TEST_F(Adapters, that_lack_one_half_of_a_layer_are_refused) {
  auto const directory = exported("llama", adapted("llama", {"q"}));
  auto const half = adapter_b("model.layers.1.self_attn.q_proj");
  {
    SafetensorsReader all(directory / "adapter_model.safetensors");
    std::vector<TensorEntry> entries;
    for (std::size_t t = 0; t < all.tensors().size(); ++t)
      if (!all.tensors()[t].name.ends_with(half)) entries.push_back(all.tensors()[t]);
    SafetensorsWriter writer(directory / "less", TensorList(entries));
    for (std::size_t t = 0; t < entries.size(); ++t) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(size_bytes(entries[t])));
      all.read(*all.tensors().find(entries[t].name), 0, bytes);
      writer.write(t, 0, bytes);
    }
    writer.finish();
  }
  fs::rename(directory / "less/model.safetensors", directory / "adapter_model.safetensors");
  EXPECT_EQ(error_of([&] { AdapterDirectory{directory}; }).what(),
            (directory / "adapter_model.safetensors").string() + ": has no " + half);
}

// Each element by its own sum, for matrices that lie either way, read in parts that begin anywhere.
TEST_F(Adapters, are_merged_into_the_layers_that_they_adapt) {
  for (std::string const name : {"llama", "gpt2"}) {
    auto const model = adapted(name, {"all"});
    auto weights = weights_of(model);
    MergedSource merged(weights, model);
    auto const& all = weights.tensors();
    std::size_t adapted_tensors = 0;
    for (std::size_t t = 0; t < merged.tensors().size(); ++t) {
      auto const& entry = merged.tensors()[t];
      auto const n = static_cast<std::size_t>(element_count(entry));
      std::vector<float> values(n), expected = weights.values(*all.find(entry.name));
      for (std::size_t at = 0; at < n; at += 7)
        read_floats(merged, t, static_cast<std::int64_t>(at),
                    std::span(values).subspan(at, std::min<std::size_t>(7, n - at)));
      auto const layer = entry.name.substr(0, entry.name.rfind('.'));
      auto const a = all.find(adapter_a(layer)), b = all.find(adapter_b(layer));
      if (a && entry.shape.size() == 2) {
        ++adapted_tensors;
        auto const inputs = static_cast<std::size_t>(all[*a].shape[1]);
        for (std::size_t i = 0; i < n; ++i) {
          auto const columns = static_cast<std::size_t>(entry.shape[1]);
          auto const output = name == "gpt2" ? i % columns : i / columns;
          auto const input = name == "gpt2" ? i / columns : i % columns;
          for (std::size_t r = 0; r < 2; ++r)
            expected[i] +=
                3 * weights.values(*b)[2 * output + r] * weights.values(*a)[r * inputs + input];
        }
      }
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_NEAR(values[i], expected[i], 1e-5) << entry.name << " " << i;
    }
    EXPECT_EQ(2 * adapted_tensors, all.size() - merged.tensors().size());
  }
}

}  // namespace
}  // namespace spillway::huggingface_adapters_test
