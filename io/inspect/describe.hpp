// Describes what a binary file holds, as text for `spillway inspect`.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace spillway {

// Says what there is to say of a checkpoint's configuration, each below a name. A name that the
// checkpoint has, too, stands for that.
using AboutConfig = std::function<std::map<std::string, std::string>(std::string const& config)>;

// Describes a token file, a checkpoint (its directory, its checkpoint.h5 or a run's directory), or
// weights in the safetensors format (a file or a directory). Every line ends with a line break.
// Throws what TokenFile, CheckpointReader and SafetensorsReader throw, such as bad_input if `path`
// is no such file or directory, or damaged if a file is cut short.
std::string describe(std::filesystem::path const& path, AboutConfig const& about = {});

}  // namespace spillway
