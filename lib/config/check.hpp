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
// ForMachine says whether a plan may name a tier whose size is `auto`: with `here` none; with
// `here_beside_device`, which means a device with memory of its own, host memory; with `other` any,
// since the search finds out which tiers another machine has.
enum class ForMachine : std::uint8_t { here, here_beside_device, other };
void check(Config const& config, Origins const& origins = {}, ForMachine where = ForMachine::here);

// Throws Error(bad_input) if a key that models of `family` do not have was given a value other than
// its default.
void check_family(std::vector<Key> const& keys, Origins const& origins, Family family);

}  // namespace spillway
