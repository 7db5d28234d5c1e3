// What tests of config.json have in common.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "config/keys.hpp"
#include "huggingface/description.hpp"

namespace spillway::test {

using Json = nlohmann::json;

// All keys that the family has, one a line.
inline std::string model_text(ModelConfig const& model) {
  Config config;
  config.model = model;
  std::string text;
  for (auto const& key : keys_of(config))
    if (key.name.starts_with("model.") && key.is_of(model.family))
      text += std::string(key.name) + ": " + write_key(key) + "\n";
  return text;
}

inline std::string golden_config(std::string const& name) {
  std::ostringstream text;
  text << std::ifstream(SPILLWAY_SOURCE_DIR "/tests/goldens/config_json/" + name + ".json").rdbuf();
  if (text.str().empty()) throw std::runtime_error("no such golden: " + name);
  return text.str();
}

inline Json config_of(Architecture architecture) {
  return {{"architectures", {class_name(architecture)}}};
}

inline ModelConfig described(Json const& file) {
  return describe_model(file.dump(), "config.json").model;
}

// The line with which a file is refused; empty where it is not.
inline std::string refusal(std::string const& json) {
  try {
    describe_model(json, "dir/config.json");
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    std::string const line = error.what();
    EXPECT_EQ(line.find('\n'), line.npos) << line;
    return line;
  }
  return "";
}

}  // namespace spillway::test
