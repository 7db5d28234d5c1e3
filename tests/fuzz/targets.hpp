// The kinds of file that the program reads and what must hold of each, whatever its bytes are.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace spillway::test {

struct FuzzTarget {
  std::string name;
  std::vector<std::string> sound;  // examples: whole files
  // Reads such a file as the program does. Throws std::logic_error when it is believed and says
  // something else than it should, or an Error has several lines; every other Error is an answer.
  std::function<void(std::string const& bytes)> read;
};

// Made once; their files lie in a directory of this process, which is removed at its end.
std::vector<FuzzTarget> const& fuzz_targets();

// Throws std::logic_error for a finding, and for a name that no target has.
void fuzz_once(FuzzTarget const& target, std::string const& bytes);
FuzzTarget const& fuzz_target(std::string const& name);

}  // namespace spillway::test
