// Says whether two Configs describe the same model. Keys that are not the model's may decide shapes
// too; a difference between shapes is found when tensors are read.
#pragma once

#include <string>

#include "config/config.hpp"

namespace spillway {

// Returns a text such as "model.heads is 12 there, 8 here" for the first key of the model that
// differs, or an empty text if none does. The caller must have replaced `auto` by values before.
std::string model_difference(Config there, Config here);

}  // namespace spillway
