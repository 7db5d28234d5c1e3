// Describes what a machine file says, for people.
#pragma once

#include <string>

#include "plan/data/machine_file.hpp"

namespace spillway {

// Returns a text such as "57 GFLOP/s in bf16". Rates that are not known, as where a run had no such
// products when it measured, are left out.
std::string product_rates(Machine const& machine);

// Returns lines that say what the machine is, what memory and rates it has, and by what it was
// measured. What is not known is left out. `title` is what the file says of itself, or "".
std::string machine_text(Profile const& profile, std::string const& path, std::string const& title);

}  // namespace spillway
