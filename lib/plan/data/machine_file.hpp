// Reads and writes a Machine as YAML. `spillway profile` writes such files, and input/machines has
// some for machines that are not there.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/data/machine.hpp"

namespace spillway {

// Says what measured a profile, and on what: ("cpu", "AMD EPYC 9654"), ... People read it, and a
// run tells profiles apart by it. It is empty in files that nobody measured.
using About = std::vector<std::pair<std::string, std::string>>;

struct Profile {
  About about;
  Machine machine;
};

// A file may leave out anything, which then is not known. All three throw Error(bad_input), naming
// the file, line and key, for an unknown key, a wrong value or numbers that contradict each other.
Machine load_machine(std::string const& path);
// `source` names the text in errors.
Machine parse_machine(std::string const& text, std::string const& source);
Profile parse_profile(std::string const& text, std::string const& source);

// Throws Error(bad_input) if a rate is missing without which every plan would seem to take no time:
// that of matrix products in the run's precision, that of memory, and, if plans may `spill`, those
// of the drive.
void require_rates(Machine const& machine, bool bf16, bool spill, std::string const& source);

// Writes a comment before each key. What it writes loads to an equal Machine.
std::string to_yaml(Machine const& machine, About const& about = {});

}  // namespace spillway
