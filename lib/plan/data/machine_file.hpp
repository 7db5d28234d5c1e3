// A Machine as YAML: what `spillway profile` writes, and input/machines/*.yaml, for machines that
// are not there.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/data/machine.hpp"

namespace spillway {

// What measured a profile, and on what: ("cpu", "AMD EPYC 9654"), ... For people, and to tell
// profiles apart; empty in files that nobody measured.
using About = std::vector<std::pair<std::string, std::string>>;

struct Profile {
  About about;
  Machine machine;
};

// Nothing is required; what a file does not say is not known. Throws Error(bad_input), naming the
// file, line and key: an unknown key, a wrong value, numbers that contradict each other.
Machine load_machine(std::string const& path);
// The same for a text; `source` names it in errors.
Machine parse_machine(std::string const& text, std::string const& source);
Profile parse_profile(std::string const& text, std::string const& source);

// Throws Error(bad_input), naming a rate without which every plan of a model would take no time:
// that of matrix products in the run's precision, that of memory, and, where plans may `spill`,
// those of the drive.
void require_rates(Machine const& machine, bool bf16, bool spill, std::string const& source);

// With a comment before each key. Loads to an equal Machine.
std::string to_yaml(Machine const& machine, About const& about = {});

}  // namespace spillway
