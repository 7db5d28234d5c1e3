// A Program is written as JSON, whole: what is read back is equal to it, field by field.
#pragma once

#include <string>

#include "plan/data/program.hpp"

namespace spillway {

// There is a line for each item, buffer, tensor, op, chunk and segment.
std::string to_json(Program const& program);

// Throws Error(bad_input), one line that names `source` and the key, item or buffer: for text that
// is no JSON, keys that are missing or unknown, values that are wrong, and whatever would let a
// reader of the Program reach beyond its end. That no order of execution goes wrong is for `verify`
// to say.
Program program_from_json(std::string const& text, std::string const& source);

}  // namespace spillway
