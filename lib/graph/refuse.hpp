// How a graph that would train wrongly is refused, in every build.
#pragma once

#include <string>

namespace spillway {

// Throws std::logic_error: our mistake, in a model family or a backward rule. Either name may be
// empty.
[[noreturn]] void refuse_graph(std::string const& op, std::string const& tensor,
                               std::string const& why);

}  // namespace spillway
