// These functions write a whole Program, as text for people or as JSON, and read the JSON.
#pragma once

#include <string>

#include "plan/data/program.hpp"

namespace spillway {

// Returns a line for each item with its lane, buffers and waits, and then a line for each buffer.
std::string items_text(Program const& program);

// Returns JSON with a line for each item, buffer, tensor, op, chunk and segment.
std::string to_json(Program const& program);

// Reads what `to_json` wrote, so that every field is equal. Throws Error(bad_input) with a line
// that names `source` and the key, item or buffer, for text that is not JSON, for missing or
// unknown keys, for wrong values, and for references that would lead a reader of the Program beyond
// its end. Unlike `verify`, this function does not prove that the order of items is safe.
Program program_from_json(std::string const& text, std::string const& source);

}  // namespace spillway
