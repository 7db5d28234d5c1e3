// Translates activations' names between config.json and our keys; only for this folder's sources.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/choices.hpp"

namespace spillway {

// our_activation returns nothing for a name that this program does not know.
std::optional<Activation> our_activation(std::string_view theirs);
std::string their_activation(Activation ours);

// Returns "is not offered; these are: gelu_new, ..", for messages.
std::string activation_not_offered();

}  // namespace spillway
