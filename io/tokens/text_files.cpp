#include "io/tokens/text_files.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "io/file/file.hpp"
#include "io/texts/byte_source.hpp"

namespace spillway {
namespace {

// Throws Error(bad_input) if a file whose size is 0 has bytes, as files in /proc have, or cannot be
// read.
void require_empty(FileDescriptor const& file, std::filesystem::path const& path) {
  std::byte first;
  auto const got = read_fully(file.get(), std::span(&first, 1), 0);
  if (got.error == 0 && got.done_bytes == 0) return;
  throw Error(Status::bad_input,
              fmt::format("{}: {}", path.string(),
                          got.error ? "cannot be read: " + error_text(got.error)
                                    : "has text, but its size is said to be 0: give a copy of it"));
}

bool holds_nothing(std::filesystem::path const& path) {
  if (path == kStandardInput) return false;  // this shows when it is read
  auto const file = open_for_reading(path);
  if (size_bytes(file, path) > 0) return false;
  require_empty(file, path);
  return true;
}

}  // namespace

TextFiles survey(std::span<std::filesystem::path const> files) {
  TextFiles texts;
  for (auto const& path : files) {
    if (holds_nothing(path))
      ++texts.empty_files;
    else
      texts.files.push_back(path);
  }
  if (texts.files.empty()) throw Error(Status::bad_input, "tokenize: the files given hold no text");
  return texts;
}

}  // namespace spillway
