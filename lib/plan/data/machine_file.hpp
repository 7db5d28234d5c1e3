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
// Error(bad_input), which names the file, line and key, for an unknown key or kind of op, a wrong
// value or numbers that contradict each other.
Machine load_machine(std::string const& path);
// Returns whether a machine file may have this key, without what stands in its map.
bool is_machine_key(std::string_view name);
// Reads the text of a machine file as `load_machine` does. Errors call the text `source`.
Profile parse_profile(std::string const& text, std::string const& source);

// A RatesAsked says what plans go by: products in bf16 or else in fp32, the drive if they may
// spill, and messages if there are several ranks.
struct RatesAsked {
  bool bf16 = false, spill = false;
  std::int64_t ranks = 1;
};
// Throws Error(bad_input) if the machine lacks a rate that such plans go by, so that something
// would seem to take no time, or as long as on the device: the rate of products, of memory, of the
// drive and, for a device with memory of its own, of its links, of updates on the host, and of
// messages.
void require_rates(Machine const& machine, RatesAsked const& asked, std::string const& source);

// Returns the machine as YAML with a comment before each key; the text loads as an equal Machine.
std::string to_yaml(Machine const& machine, About const& about = {});
// How that text begins where there is something about it.
inline constexpr std::string_view kMeasuredHead = "# What it was measured by, and on.\n";

}  // namespace spillway
