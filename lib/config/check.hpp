// Checks relations between keys. The bounds of single keys are in the table (keys.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "config/assign.hpp"
#include "config/config.hpp"

namespace spillway {

// Throws Error(bad_input, "<where>: <key>: ...") for the first contradiction between two keys.
// <where> is the origin of <key> or, if <key> has its default or the other key came from the
// command line, the origin of the other key. A Config that was built in code needs no origins.
//
// ForMachine says when a plan may name a tier whose size is `auto`: host memory beside a device
// with memory of its own, and any tier of another machine, since the search finds out which tiers
// that machine has.
enum class ForMachine : std::uint8_t { here, here_beside_device, other };
void check(Config const& config, Origins const& origins = {}, ForMachine where = ForMachine::here);

// Refuses a key that was given another value than its default although models of the family do not
// have the key.
void check_family(std::vector<Key> const& keys, Origins const& origins, Family family);

}  // namespace spillway
