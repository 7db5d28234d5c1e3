// Describes a YAML file for `inspect`: a plan, a machine file or an input file.
#pragma once

#include <string>

namespace spillway {

// Finds out by its keys what the file is, and describes it. Throws Error(bad_input) if it is none
// of these, or has a mistake.
std::string describe_yaml(std::string const& path);

}  // namespace spillway
