// Whether two inputs describe one model. Keys that are not of `model` may change shapes too: that
// is found when tensors are read.
#pragma once

#include <string>

#include "config/config.hpp"

namespace spillway {

// "model.heads is 12 there, 8 here" for the first key that decides the model and differs; empty if
// none does. What `auto` stands for is filled in before.
std::string model_difference(Config there, Config here);

}  // namespace spillway
