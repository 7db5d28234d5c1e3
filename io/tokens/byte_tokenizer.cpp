#include "io/tokens/byte_tokenizer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "io/file/file.hpp"
#include "io/tokens/token_writer.hpp"

namespace spillway {
namespace {

struct Documents {
  std::vector<std::filesystem::path> files;
  std::vector<std::int64_t> sizes_bytes, starts;
  std::int64_t tokens = 0, empty_files = 0;
};

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

// Opens every input and finds its size, before anything is written. Empty files do not count as
// documents.
Documents survey(std::span<std::filesystem::path const> files, bool separator) {
  Documents documents;
  for (auto const& path : files) {
    auto const file = open_for_reading(path);
    auto const size = size_bytes(file, path);
    if (size == 0) {
      require_empty(file, path);
      ++documents.empty_files;
      continue;
    }
    documents.files.push_back(path);
    documents.sizes_bytes.push_back(size);
    documents.starts.push_back(documents.tokens);
    documents.tokens += size + (separator ? 1 : 0);
  }
  if (documents.tokens == 0)
    throw Error(Status::bad_input, "tokenize: the files given hold no text");
  return documents;
}

void append_file(TokenWriter& writer, std::filesystem::path const& path, std::int64_t bytes,
                 std::function<void(std::int64_t)> const& told) {
  auto const file = open_for_reading(path);
  std::vector<std::byte> buffer(1 << 16);
  std::vector<std::int32_t> tokens;
  for (std::int64_t at = 0; at < bytes;) {
    auto const rest = static_cast<std::size_t>(bytes - at);
    auto const piece = std::span(buffer).first(std::min(buffer.size(), rest));
    auto const got = read_fully(file.get(), piece, at);
    if (got.done_bytes != static_cast<std::int64_t>(piece.size())) {
      throw Error(Status::bad_input,
                  fmt::format("{}: cannot be read: {}", path.string(),
                              got.error ? error_text(got.error) : "the file has become shorter"));
    }
    tokens.assign(piece.size(), 0);
    std::transform(piece.begin(), piece.end(), tokens.begin(),
                   [](std::byte byte) { return std::to_integer<std::int32_t>(byte); });
    writer.append(tokens);
    at += got.done_bytes;
    if (told) told(got.done_bytes);
  }
}

}  // namespace

TokenizeResult tokenize_bytes(std::span<std::filesystem::path const> files, Output const& out,
                              bool separator, std::function<void(std::int64_t bytes)> const& told) {
  auto const documents = survey(files, separator);
  TokenWriter writer(out, kByteTokenizer, separator ? 257 : 256, documents.tokens,
                     std::ssize(documents.files));
  for (std::size_t i = 0; i < documents.files.size(); ++i) {
    append_file(writer, documents.files[i], documents.sizes_bytes[i], told);
    if (separator) writer.append(std::span(&byte_separator, 1));
  }
  writer.close(documents.starts);
  return {documents.tokens, std::ssize(documents.files), documents.empty_files};
}

}  // namespace spillway
