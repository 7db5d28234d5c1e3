// Says whether two inputs describe one model. Keys outside `model` may change shapes too: that is
// found when tensors are read.
#pragma once

#include <string>

#include "config/config.hpp"

namespace spillway {

// Returns a text such as "model.heads is 12 there, 8 here" for the first key that decides the model
// and differs, or an empty text. The caller must have replaced `auto` by values before.
std::string model_difference(Config there, Config here);

}  // namespace spillway
