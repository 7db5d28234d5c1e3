#include <fmt/core.h>

#include "base/error.hpp"
#include "io/texts/unpack.hpp"

namespace spillway {

std::unique_ptr<ByteSource> unpack_gzip(std::unique_ptr<ByteSource>,
                                        std::filesystem::path const& path) {
  throw Error(Status::bad_input,
              fmt::format("{}: this build reads no files of gzip, since it was made without zlib; "
                          "unpack it (gunzip), or install zlib1g-dev and build again",
                          path.string()));
}

}  // namespace spillway
