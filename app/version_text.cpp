#include "app/version_text.hpp"

#include <fmt/core.h>

#include "version.hpp"

namespace spillway {

std::string version_text() {
  return fmt::format("spillway {} ({})\n{}\n{}\n{}", build::version, build::git_hash,
                     build::compiler, build::flags, build::features);
}

}  // namespace spillway
