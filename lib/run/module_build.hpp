// Names a build, so that a program opens only modules of its own build.
#pragma once

#include <fmt/core.h>

#include <string>

#include "version.hpp"

namespace spillway {

// Flags, too, decide how objects of the standard library lie in memory: each side says what it has
// been compiled with.
inline std::string standard_library() {
#if defined(_LIBCPP_VERSION)
  return fmt::format("libc++ {} of ABI {}", _LIBCPP_VERSION, _LIBCPP_ABI_VERSION);
#elif defined(_GLIBCXX_DEBUG)
  return fmt::format("libstdc++ of ABI {} with _GLIBCXX_DEBUG", _GLIBCXX_USE_CXX11_ABI);
#elif defined(_GLIBCXX_USE_CXX11_ABI)
  return fmt::format("libstdc++ of ABI {}", _GLIBCXX_USE_CXX11_ABI);
#else
  return "another standard library";
#endif
}

// Programs and modules whose texts are equal may exchange objects of C++.
inline std::string module_build() {
  return fmt::format("{} {}, {}, {}", build::version, build::git_hash, build::compiler,
                     standard_library());
}

}  // namespace spillway
