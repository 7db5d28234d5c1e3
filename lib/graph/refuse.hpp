// A graph that would train wrongly is refused in debug and release builds alike.
#pragma once

#include <string>

namespace spillway {

// Throws std::logic_error, because only a mistake in a model family or a backward rule makes a
// wrong graph. `op` and `tensor` are names, and either may be empty.
[[noreturn]] void refuse_graph(std::string const& op, std::string const& tensor,
                               std::string const& why);

}  // namespace spillway
