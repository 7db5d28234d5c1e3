// Does work in a child process with limits, for libraries that may crash, loop or use too much
// memory on damaged bytes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace spillway {

// Runs `work` in a copy of this process and returns the text that `work` returns. Nothing else that
// `work` does changes this process, and what it prints is discarded. Throws the Error that `work`
// throws, in one line; Error(damaged) that names `path` if `work` throws another exception,
// crashes, takes more than four seconds of processor time or needs more than 2 GiB of memory;
// Error(storage) if no child can be started, if `work` takes more than two minutes, or if another
// process ends the child by a signal. `work` must not use MPI, devices or other threads.
std::string in_child(std::filesystem::path const& path, std::function<std::string()> const& work);

}  // namespace spillway
