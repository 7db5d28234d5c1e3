// These functions read and write a Machine as YAML. `spillway profile` writes such files, and
// input/machines has some that describe other machines.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/data/machine.hpp"

namespace spillway {

// An About says what was measured, in pairs such as ("cpu", "AMD EPYC 9654"). People read these
// pairs, and a run tells profiles apart by them. If nothing was measured, there are no pairs.
using About = std::vector<std::pair<std::string, std::string>>;

struct Profile {
  About about;
  Machine machine;
};

// Reads a machine file, in which any key may be left out, so that its value is unknown. Throws
// Error(bad_input), which names the file, line and key, for an unknown key, a wrong value or
// numbers that contradict each other.
Machine load_machine(std::string const& path);
// Reads the text of a machine file as `load_machine` does. Errors call the text `source`.
Profile parse_profile(std::string const& text, std::string const& source);

// Throws Error(bad_input) if the machine lacks a rate without which every plan would seem to take
// no time: the rate of matrix products in the run's precision, of memory or, if plans may `spill`,
// of the drive.
void require_rates(Machine const& machine, bool bf16, bool spill, std::string const& source);

// Returns the machine as YAML with a comment before each key; the text loads as an equal Machine.
std::string to_yaml(Machine const& machine, About const& about = {});
// How that text begins where there is something about it.
inline constexpr std::string_view kMeasuredHead = "# What it was measured by, and on.\n";

}  // namespace spillway
