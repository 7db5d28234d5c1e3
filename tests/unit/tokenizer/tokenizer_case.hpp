// What tests of tokenizers have in common: a tokenizer.json is written, read, and asked.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/in_directory.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace spillway::test {

using Ids = std::vector<std::int32_t>;
using Json = nlohmann::json;

// A byte-level tokenizer of a few letters, the blank (Ġ) and three merges: "ab" is 5, "abc" is 6,
// " a" is 7. The token 8 ends texts.
inline Json byte_level_json() {
  return Json::parse(R"({
    "added_tokens": [{"id": 8, "content": "<end>", "special": true, "normalized": false}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
    "decoder": {"type": "ByteLevel"},
    "model": {
      "type": "BPE",
      "vocab": {"a": 0, "b": 1, "c": 2, "Ġ": 3, "Ã": 4, "ab": 5, "abc": 6, "Ġa": 7, "©": 9},
      "merges": ["a b", ["ab", "c"], "Ġ a"]
    }
  })");
}

class TokenizerTest : public InDirectory {
 protected:
  std::unique_ptr<Tokenizer const> opened(Json const& json) const {
    std::ofstream(m_dir / kTokenizerFile, std::ios::binary) << json;
    return open_tokenizer(m_dir);
  }

  static Ids ids_of(Tokenizer const& tokenizer, std::string_view text) {
    Ids ids;
    tokenizer.encoder()->encode(text, ids);
    return ids;
  }
};

}  // namespace spillway::test
