// A KeyGroup is a key of config.json, or a few that say something only together. It can be read and
// written. Only for this folder's sources.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "huggingface/architecture.hpp"
#include "huggingface/json_object.hpp"
#include "huggingface/model_keys.hpp"

namespace spillway {

struct KeyGroup {
  std::vector<std::string_view> names;  // the keys of config.json that it reads
  std::function<void(Json const& file, ModelKeys&)> read;
  // Returns an object with some of the keys of config.json in `names`. If `read` is given that
  // object, it sets this program's keys to the values that they have in the ModelKeys.
  std::function<Json(ModelKeys const&)> write;
};

// Returns all groups of a model of this architecture, in the order in which they must be read.
std::vector<KeyGroup> key_groups_of(Architecture architecture);

// Each of these groups translates keys that a row of a table (key_table.hpp) cannot describe.
KeyGroup rope_keys(Architecture architecture);
KeyGroup qwen_window_keys();
KeyGroup ministral_window_keys();
KeyGroup t5_feed_forward_keys();
KeyGroup t5_head_keys();
KeyGroup t5_start_keys();

}  // namespace spillway
