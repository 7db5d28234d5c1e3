// Translates activations' names between config.json and our keys; only for this folder's sources.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

// Both return an empty text for a name that is not known.
std::string our_activation(std::string_view theirs);
std::string their_activation(std::string_view ours);

// Returns "is not offered; these are: gelu_new, ..", for messages.
std::string activation_not_offered();

}  // namespace spillway
