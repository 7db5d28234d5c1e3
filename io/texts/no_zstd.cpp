#include <fmt/core.h>

#include "base/error.hpp"
#include "io/texts/unpack.hpp"

namespace spillway {

std::unique_ptr<ByteSource> unpack_zstd(std::unique_ptr<ByteSource>,
                                        std::filesystem::path const& path) {
  throw Error(
      Status::bad_input,
      fmt::format("{}: this build reads no files of zstd, since it was made without libzstd; "
                  "unpack it (unzstd), or install libzstd-dev and build again",
                  path.string()));
}

}  // namespace spillway
