// Whether two inputs describe one model: what a checkpoint of one holds fits the other.
#pragma once

#include <string>

#include "config/config.hpp"

namespace spillway {

// "model.heads is 12 there, 8 here" for the first key that decides the model and differs; empty if
// none does. What `auto` stands for is filled in before.
std::string model_difference(Config there, Config here);

}  // namespace spillway
