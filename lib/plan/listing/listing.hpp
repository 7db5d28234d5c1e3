// Writes a whole Program for others to read: as text for people, and as JSON for programs.
#pragma once

#include <string>

#include "plan/data/program.hpp"

namespace spillway {

// Writes a line for each item, with its lane, its buffers and what it waits for, then all buffers.
std::string items_text(Program const& program);

// Writes a line for each item, buffer, tensor, op, chunk and segment.
std::string to_json(Program const& program);

// Reads what `to_json` wrote, so that every field is equal.
// Throws Error(bad_input) with a line that names `source` and the key, item or buffer. It does so
// for text that is not JSON, for missing or unknown keys, for wrong values, and for references that
// would lead a reader of the Program beyond its end. It does not prove that the order of items is
// safe, as `verify` does.
Program program_from_json(std::string const& text, std::string const& source);

}  // namespace spillway
