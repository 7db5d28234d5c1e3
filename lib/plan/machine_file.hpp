// A Machine as YAML: what `spillway profile` writes, and input/machines/*.yaml, for machines that
// are not there.
#pragma once

#include <string>

#include "plan/machine.hpp"

namespace spillway {

// Nothing is required; what a file does not say is not known. Throws Error(bad_input), naming the
// file, line and key: an unknown key, a wrong value, numbers that contradict each other.
Machine load_machine(std::string const& path);
// The same for a text; `source` names it in errors.
Machine parse_machine(std::string const& text, std::string const& source);

// With a comment before each key. Loads to an equal Machine.
std::string to_yaml(Machine const& machine);

}  // namespace spillway
