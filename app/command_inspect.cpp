#include <fmt/format.h>

#include "app/commands.hpp"
#include "io/inspect/describe.hpp"

namespace spillway {

Status run_inspect(std::string const& path) {
  fmt::print("{}", describe(std::filesystem::path(path)));
  return Status::done;
}

}  // namespace spillway
