// What transformers computes by each key of a configuration, as tests/huggingface/config_keys.py
// has found it, and what becomes of the key here.
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_config_keys_test {
namespace {

using test::described;
using test::Json;
using test::model_text;

// Empty: the file is refused.
std::string text_of(Json const& file) {
  return test::refusal(file.dump()).empty() ? model_text(described(file)) : "";
}

TEST(ConfigKeys, what_changes_the_function_is_never_left_out_and_what_does_not_is) {
  std::ifstream rows(SPILLWAY_SOURCE_DIR "/tests/goldens/config_keys.jsonl");
  Json base;
  int tried = 0;
  for (std::string line; std::getline(rows, line);) {
    auto const row = Json::parse(line);
    if (row.contains("config")) {
      base = row["config"];
      continue;
    }
    auto const key = row["key"].get<std::string>();
    if (key == "tie_word_embeddings") continue;  // tensors decide
    auto file = base;
    file[key] = row["value"];
    auto const found = text_of(file), before = text_of(base);
    ++tried;
    if (row["transformers"] == "other") {
      EXPECT_NE(found, before) << line;
    } else if (row["transformers"] == "same" && !(found.empty() && row["may_be_refused"])) {
      EXPECT_EQ(found, before) << line;
    }
  }
  EXPECT_GT(tried, 900);
}

}  // namespace
}  // namespace spillway::huggingface_config_keys_test
