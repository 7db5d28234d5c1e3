// Relations between keys. Bounds of single keys are in the table (keys.cpp).
#pragma once

#include "config/assign.hpp"
#include "config/config.hpp"

namespace spillway {

// Throws Error(bad_input, "<where>: <key>: ...") for the first contradiction; `where` is the origin
// of the key named or, if that is a default or the other key of the relation came from the command
// line, of the other key. For a Config built in code origins may be left out. For another machine
// a plan may name tiers that are `auto`: the machine file has them, or the search finds it has not.
enum class ForMachine : bool { here, other };
void check(Config const& config, Origins const& origins = {}, ForMachine where = ForMachine::here);

}  // namespace spillway
