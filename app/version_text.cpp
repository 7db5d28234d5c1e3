#include "app/version_text.hpp"

#include <fmt/core.h>

#include "base/wrapped.hpp"
#include "version.hpp"

namespace spillway {

std::string version_text() {
  return fmt::format("spillway {} ({})\n{}\n{}\n{}", build::version, build::git_hash,
                     build::compiler, wrapped(build::flags), wrapped(build::features));
}

}  // namespace spillway
