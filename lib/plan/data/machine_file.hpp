// Reads and writes a Machine as YAML. `spillway profile` writes such files, and input/machines has
// some that describe other machines.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/data/machine.hpp"

namespace spillway {

// Says what was measured, for example ("cpu", "AMD EPYC 9654"). People read these pairs, and a run
// tells profiles apart by them. The list is empty in files that do not come from a measurement.
using About = std::vector<std::pair<std::string, std::string>>;

struct Profile {
  About about;
  Machine machine;
};

// A file may leave out any key, whose value is then unknown. Both functions throw
// Error(bad_input), which names the file, line and key, for an unknown key, a wrong value or
// numbers that contradict each other.
Machine load_machine(std::string const& path);
// `source` is the name of the text in error messages.
Profile parse_profile(std::string const& text, std::string const& source);

// Throws Error(bad_input) if a rate is missing without which every plan would seem to take no time.
// These are the rates of matrix products in the run's precision, of memory and, if plans may
// `spill`, of the drive.
void require_rates(Machine const& machine, bool bf16, bool spill, std::string const& source);

// Writes the machine with a comment before each key. Loading this text gives an equal Machine.
std::string to_yaml(Machine const& machine, About const& about = {});

}  // namespace spillway
