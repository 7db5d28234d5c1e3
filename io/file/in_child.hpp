// Work in a child process with limits, for libraries that may crash, loop or grow over damaged
// bytes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace spillway {

// Gives the text that `work` returns in a copy of this process; nothing else that it does is seen
// here, and it prints nothing. Throws the Error that it throws, in one line, Error(damaged)
// naming `path` where it crashes, takes more than four seconds of a processor, or needs more than
// 2 GiB of memory, and Error(storage) where it waits for minutes or somebody else ends it. `work`
// must not use MPI, devices or other threads.
std::string in_child(std::filesystem::path const& path, std::function<std::string()> const& work);

}  // namespace spillway
