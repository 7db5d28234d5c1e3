// Throws the error of a run directory that cannot be used.
#pragma once

#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace spillway {

[[noreturn]] inline void refuse_run_dir(std::filesystem::path const& path, std::string const& why) {
  throw Error(Status::bad_input, fmt::format("run.dir: {}: {}", path.string(), why));
}

}  // namespace spillway
