// require_same refuses a run whose ranks have read different things, such as configurations.
#pragma once

#include <functional>
#include <string>

#include "comm/comm.hpp"

namespace spillway {

// Compares `text` with the text of rank 0. All ranks must call require_same. If the text of any
// rank differs, every rank throws AgreedError(bad_input), and the lowest rank whose text differs
// reports `why(text of rank 0)`.
void require_same(Comm& comm, std::string const& text,
                  std::function<std::string(std::string const& first)> const& why);

}  // namespace spillway
