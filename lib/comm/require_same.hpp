// What all ranks must have alike, since each read it for itself.
#pragma once

#include <functional>
#include <string>

#include "comm/comm.hpp"

namespace spillway {

// Compares `text` with rank 0's. Collective. Where any differs, every rank throws
// AgreedError(bad_input); the lowest rank that differs speaks, by `why` of rank 0's text.
void require_same(Comm& comm, std::string const& text,
                  std::function<std::string(std::string const& first)> const& why);

}  // namespace spillway
