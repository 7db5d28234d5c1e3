// What activations are called in config.json and in our keys; only for this folder's sources.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

// Empty for one that we have not.
std::string our_activation(std::string_view theirs);
std::string their_activation(std::string_view ours);

// "is not offered; these are: gelu_new, ..", for messages.
std::string activation_not_offered();

}  // namespace spillway
