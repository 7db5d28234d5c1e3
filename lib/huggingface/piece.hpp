// The parts of a config.json: each is a key, or a few that say something only together, and can be
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
  std::vector<std::string_view> names;  // keys of config.json that it reads
  std::function<void(Json const& file, ModelKeys&)> read;
  // An object of some of its names, which reads to the same keys.
  std::function<Json(ModelKeys const&)> write;
};

// All that a model of this architecture consists of, in the order in which it must be read.
std::vector<Piece> pieces_of(Architecture architecture);

// Those of more than one key.
Piece rope_piece(Architecture architecture);
Piece qwen_window_piece();
Piece ministral_window_piece();
Piece t5_feed_forward_piece();
Piece t5_head_piece();
Piece t5_start_piece();

}  // namespace spillway
