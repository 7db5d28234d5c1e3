#include "huggingface_targets.hpp"

#include <stdexcept>

#include "base/error.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "file_targets.hpp"
#include "huggingface/description.hpp"

namespace spillway::test {
namespace {

std::string yaml_of(ModelConfig const& model) {
  Config config;
  config.model = model;
  return to_yaml(config);
}

// An input file may ask for the model, and both files that are written for it say the same model.
void require_same(ModelDescription const& found, std::string const& json) {
  auto const expected = yaml_of(found.model);
  if (to_yaml(parse_config(expected, "config.yaml", {}, elsewhere)) != expected)
    throw std::logic_error("a model that is believed is another one in an input file");
  ModelDescription const ours = {architecture_of(found.model), found.model};
  auto const without = config_json(ours, ElementType::f32, "");
  auto const with = config_json(found, ElementType::bf16, json);
  for (auto const& written : {without, with})
    if (yaml_of(describe_model(written, "written").model) != expected)
      throw std::logic_error("a model that is believed is written as another: " + written);
}

FuzzTarget config_file() {
  std::vector<std::string> sound;
  for (auto const* const name : {"bert-4", "gpt2-5", "llama-4", "mistral-5", "qwen2-5", "t5-5"})
    sound.push_back(
        read_file(std::string(SPILLWAY_SOURCE_DIR "/tests/goldens/config_json/") + name + ".json"));
  return {"config_json", sound, [](std::string const& json) {
            auto const found = describe_model(json, "config.json");
            try {
              require_same(found, json);
            } catch (Error const& error) {
              throw std::logic_error(std::string("a model is believed, but then: ") + error.what());
            }
          }};
}

}  // namespace

std::vector<FuzzTarget> huggingface_targets() {
  return {config_file()};
}

}  // namespace spillway::test
