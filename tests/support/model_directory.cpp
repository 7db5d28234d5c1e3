#include "tests/support/model_directory.hpp"

#include <fstream>
#include <random>
#include <sstream>

#include "huggingface/description.hpp"
#include "huggingface/match_tensors.hpp"
#include "io/safetensors/reader.hpp"
#include "io/safetensors/writer.hpp"
#include "io/tensors/convert.hpp"

namespace spillway::test {
namespace {

std::string bytes_of(TensorEntry const& entry) {
  std::seed_seq seed(entry.name.begin(), entry.name.end());
  std::mt19937 random(seed);
  std::normal_distribution<float> draw(0, 0.05F);
  std::vector<float> values(static_cast<std::size_t>(element_count(entry)));
  for (auto& value : values) value = draw(random);
  std::string bytes(static_cast<std::size_t>(size_bytes(entry)), '\0');
  from_floats(entry.type, values, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::string llama_like(std::string const& name, std::string const& more) {
  return R"({"architectures": [")" + name + R"("], "num_hidden_layers": 2, "hidden_size": 24,
    "num_attention_heads": 3, "num_key_value_heads": 1, "intermediate_size": 44, "vocab_size": 400,
    "max_position_embeddings": 32)" +
         more + "}\n";
}

constexpr char const* kGpt = R"({"architectures": ["GPT2LMHeadModel"], "n_layer": 2, "n_embd": 24,
  "n_head": 3, "n_positions": 32, "n_inner": 52, "vocab_size": 400, "eos_token_id": 7})";
constexpr char const* kBert = R"({"architectures": ["BertForMaskedLM"], "num_hidden_layers": 2,
  "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 36, "vocab_size": 400,
  "max_position_embeddings": 32})";
constexpr char const* kT5 = R"({"architectures": ["T5ForConditionalGeneration"], "d_model": 24,
  "num_heads": 3, "d_kv": 6, "d_ff": 36, "vocab_size": 400, "num_layers": 2,
  "num_decoder_layers": 1, "relative_attention_num_buckets": 8,
  "relative_attention_max_distance": 12})";

}  // namespace

void PrintTo(DirectoryCase const& model, std::ostream* out) {
  *out << model.name;
}

std::vector<DirectoryCase> const& directory_cases() {
  static std::vector<DirectoryCase> const cases = {
      {"gpt2", kGpt, ElementType::f32},
      {"bert", kBert, ElementType::f16},
      {"t5", kT5, ElementType::f32, 20'000},
      {"llama", llama_like("LlamaForCausalLM", R"(, "tie_word_embeddings": false)"),
       ElementType::bf16, 10'000, "norm.weight"},
      {"qwen2", llama_like("Qwen2ForCausalLM", R"(, "tie_word_embeddings": true)"),
       ElementType::bf16},
      {"qwen3", llama_like("Qwen3ForCausalLM", R"(, "head_dim": 10)"), ElementType::f16, 15'000},
      {"mistral", llama_like("MistralForCausalLM", R"(, "sliding_window": 5)"), ElementType::f32},
      {"ministral", llama_like("MistralForCausalLM", R"(, "sliding_window": 5,
         "layer_types": ["full_attention", "sliding_attention"])"),
       ElementType::f32}};
  return cases;
}

void write_model_directory(std::filesystem::path const& directory, DirectoryCase const& model) {
  Tensors tensors;
  for (auto entry : parameters_of(describe_model(model.config, model.name).model)) {
    bool const is_exception = !model.exception.empty() && entry.name.ends_with(model.exception);
    entry.type = is_exception ? ElementType::f32 : model.type;
    auto bytes = bytes_of(entry);
    auto const name = entry.name;
    tensors.emplace(name, std::pair(std::move(entry), std::move(bytes)));
  }
  write_tensors(directory, tensors, model.most_shard_bytes);
  std::ofstream(directory / "config.json") << model.config;
  std::ofstream(directory / "tokenizer.json")
      << R"({"added_tokens": [{"id": 398, "content": "[MASK]"}, {"id": 399, "content": )"
      << R"("<extra_id_0>"}], "model": ")" << model.name << "\"}\n";
}

Tensors tensors_in(std::filesystem::path const& directory) {
  SafetensorsReader reader(directory);
  Tensors tensors;
  for (std::size_t i = 0; i < reader.tensors().size(); ++i) {
    auto const& entry = reader.tensors()[i];
    std::string bytes(static_cast<std::size_t>(size_bytes(entry)), '\0');
    reader.read(i, 0, std::as_writable_bytes(std::span(bytes)));
    tensors.emplace(entry.name, std::pair(entry, std::move(bytes)));
  }
  return tensors;
}

void write_tensors(std::filesystem::path const& directory, Tensors const& tensors,
                   std::int64_t most_shard_bytes) {
  std::vector<TensorEntry> entries;
  for (auto const& [name, tensor] : tensors) entries.push_back(tensor.first);
  SafetensorsWriter writer(directory, TensorList(entries), most_shard_bytes);
  for (std::size_t i = 0; i < entries.size(); ++i)
    writer.write(i, 0, std::as_bytes(std::span(tensors.at(entries[i].name).second)));
  writer.finish();
}

std::string model_and_ids(std::string const& imported) {
  std::istringstream lines(imported);
  std::string text;
  for (std::string line; std::getline(lines, line) && line != "optim:";)
    if (!line.starts_with("  train:") && !line.starts_with("  sequence:")) text += line + "\n";
  return text;
}

}  // namespace spillway::test
