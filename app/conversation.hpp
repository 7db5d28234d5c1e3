// A conversation with a model: each line of standard input is what its user says next.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/chat.hpp"

namespace spillway {

// Reads standard input up to its end. `answer` is given the prompt of the conversation so far,
// shows what the model makes of it, and returns that. On a terminal a mark shows whose turn it is.
void converse(Chat const& chat,
              std::function<std::string(std::vector<std::int32_t> const& prompt)> const& answer);

}  // namespace spillway
