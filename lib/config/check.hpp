// Relations between keys. Bounds of single keys are in the table (keys.cpp).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/assign.hpp"
#include "config/config.hpp"

namespace spillway {

// Throws Error(bad_input, "<where>: <key>: ...") for the first contradiction; `where` is the origin
// of the key named or, if that is a default or the other key of the relation came from the command
// line, of the other key. For a Config built in code origins may be left out. A plan may name tiers
// that are `auto`: host memory beside a device with memory of its own, and anything on another
// machine, whose file has it, or the search finds that it has not.
enum class ForMachine : std::uint8_t { here, here_beside_device, other };
void check(Config const& config, Origins const& origins = {}, ForMachine where = ForMachine::here);

// Refuses a key that was given another value than its default and that models of the family do not
// have.
void check_family(std::vector<Key> const& keys, Origins const& origins, std::string_view family);

}  // namespace spillway
