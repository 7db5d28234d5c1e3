// A proof that Programs which run by turns on one arena leave each other's state alone.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "plan/data/program.hpp"

namespace spillway {

// What persists in one Program lies at the same bytes in every Program that has it by that name,
// apart from all else that persists, and transient bytes of no Program reach into any of it.
// Returns one line that names the buffers of the first violation, or nothing.
std::optional<std::string> verify_shared(std::span<Program const* const> programs);
// Throws std::logic_error if `verify_shared` finds a violation.
void prove_shared(std::span<Program const* const> programs);

}  // namespace spillway
