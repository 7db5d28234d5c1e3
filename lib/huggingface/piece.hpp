// A Piece is a part of a config.json: one key, or a few that say something only together. It can be
// read and written. Only for this folder's sources.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "huggingface/architecture.hpp"
#include "huggingface/json_object.hpp"
#include "huggingface/model_keys.hpp"

namespace spillway {

struct Piece {
  std::vector<std::string_view> names;  // the keys of config.json that it reads
  std::function<void(Json const& file, ModelKeys&)> read;
  // Returns an object with some of the names, which `read` would read to the same keys of ours.
  std::function<Json(ModelKeys const&)> write;
};

// Returns all pieces of a model of this architecture, in the order in which they must be read.
std::vector<Piece> pieces_of(Architecture architecture);

// These pieces need more than a row of a table (key_table.hpp).
Piece rope_piece(Architecture architecture);
Piece qwen_window_piece();
Piece ministral_window_piece();
Piece t5_feed_forward_piece();
Piece t5_head_piece();
Piece t5_start_piece();

}  // namespace spillway
