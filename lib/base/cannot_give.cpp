#include "base/cannot_give.hpp"

#include <fmt/core.h>

#include "base/error_text.hpp"
#include "base/units.hpp"

namespace spillway {

Error cannot_give(std::string_view what, std::int64_t bytes, int error) {
  return {Status::cannot_fit, fmt::format("{}: the system does not give {}: {}", what,
                                          human_bytes(bytes), error_text(error))};
}

Error no_more_memory() {
  return {Status::cannot_fit,
          "the system gives this process no more memory: free some, or raise the process's limit "
          "(ulimit -v, or that of the batch job)"};
}

}  // namespace spillway
