#include "io/tokens/text_files.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/error_text.hpp"

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

}  // namespace

TextFiles survey(std::span<std::filesystem::path const> files) {
  TextFiles texts;
  for (auto const& path : files) {
    auto const file = open_for_reading(path);
    auto const size = size_bytes(file, path);
    if (size > 0) {
      texts.files.push_back({path, size});
      continue;
    }
    require_empty(file, path);
    ++texts.empty_files;
  }
  if (texts.files.empty()) throw Error(Status::bad_input, "tokenize: the files given hold no text");
  return texts;
}

TextReader::TextReader(TextFile const& file)
    : m_file(file), m_descriptor(open_for_reading(file.path)) {}

std::size_t TextReader::read(std::span<std::byte> to) {
  auto const rest = static_cast<std::size_t>(m_file.size_bytes - m_at);
  auto const piece = to.first(std::min(to.size(), rest));
  auto const got = read_fully(m_descriptor.get(), piece, m_at);
  if (got.done_bytes != std::ssize(piece))
    throw Error(Status::bad_input,
                fmt::format("{}: cannot be read: {}", m_file.path.string(),
                            got.error ? error_text(got.error) : "the file has become shorter"));
  m_at += got.done_bytes;
  return piece.size();
}

}  // namespace spillway
