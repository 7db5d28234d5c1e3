// Names a build, so that a program opens only modules of its own build.
#pragma once

#include <fmt/core.h>

#include <string>

#include "version.hpp"

namespace spillway {

// Programs and modules whose texts are equal may exchange objects of C++.
inline std::string module_build() {
  return fmt::format("{} {}, {}", build::version, build::git_hash, build::compiler);
}

}  // namespace spillway
