#include "io/texts/byte_source.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "io/file/file.hpp"
#include "io/texts/input_kind.hpp"
#include "io/texts/unpack.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_source(fs::path const& path, std::string const& why) {
  throw Error(Status::bad_input, fmt::format("{}: {}", path.string(), why));
}

// A file has as many bytes as it had when it was opened.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(fs::path path)
      : m_path(std::move(path)),
        m_file(open_for_reading(m_path)),
        m_size_bytes(size_bytes(m_file, m_path)) {}

  std::size_t read(std::span<std::byte> to) override {
    auto const rest = static_cast<std::size_t>(m_size_bytes - m_at);
    auto const piece = to.first(std::min(to.size(), rest));
    auto const got = read_fully(m_file.get(), piece, m_at);
    if (got.done_bytes != std::ssize(piece))
      refuse_source(m_path,
                    "cannot be read: " + (got.error ? error_text(got.error)
                                                    : std::string("the file has become shorter")));
    m_at += got.done_bytes;
    return piece.size();
  }
  std::int64_t file_bytes() const override { return m_at; }

 private:
  fs::path m_path;
  FileDescriptor m_file;
  std::int64_t m_size_bytes, m_at = 0;
};

class StandardInput final : public ByteSource {
 public:
  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size()) {
      auto const got = ::read(STDIN_FILENO, to.data() + done, to.size() - done);
      if (got == 0) break;
      if (got > 0) done += static_cast<std::size_t>(got);
      if (got < 0 && errno != EINTR) refuse_source("stdin", "cannot be read: " + error_text(errno));
    }
    m_bytes += static_cast<std::int64_t>(done);
    return done;
  }
  std::int64_t file_bytes() const override { return m_bytes; }

 private:
  std::int64_t m_bytes = 0;
};

// The first bytes have been looked at, and come first.
class BegunSource final : public ByteSource {
 public:
  BegunSource(std::string beginning, std::unique_ptr<ByteSource> rest)
      : m_beginning(std::move(beginning)), m_rest(std::move(rest)) {}

  std::size_t read(std::span<std::byte> to) override {
    auto const first = std::min(to.size(), m_beginning.size() - m_at);
    std::memcpy(to.data(), m_beginning.data() + m_at, first);
    m_at += first;
    return first + m_rest->read(to.subspan(first));
  }
  std::int64_t file_bytes() const override { return m_rest->file_bytes(); }

 private:
  std::string m_beginning;
  std::size_t m_at = 0;
  std::unique_ptr<ByteSource> m_rest;
};

}  // namespace

void cannot_unpack(fs::path const& path, char const* why) {
  throw Error(Status::damaged, fmt::format("{}: cannot be unpacked: {}", path.string(), why));
}

std::unique_ptr<ByteSource> open_bytes(fs::path const& path) {
  std::unique_ptr<ByteSource> source;
  if (path == kStandardInput)
    source = std::make_unique<StandardInput>();
  else
    source = std::make_unique<FileSource>(path);
  std::string beginning(kMagicBytes, '\0');
  beginning.resize(source->read(std::as_writable_bytes(std::span(beginning))));
  auto const packing = packing_of(beginning);
  auto const named = kind_by_name(path);
  if (is_parquet(beginning))
    refuse_source(path, path == kStandardInput
                            ? "is a table of Parquet, which is not read from stdin: give the file"
                            : "is a table of Parquet, and no text: leave out --format");
  if (named && named->packing != Packing::none && named->packing != packing)
    refuse_source(path, fmt::format("is not what its name says: it does not begin as {} does",
                                    named->packing == Packing::gzip ? "gzip" : "zstd"));
  source = std::make_unique<BegunSource>(std::move(beginning), std::move(source));
  if (packing == Packing::gzip) return unpack_gzip(std::move(source), path);
  if (packing == Packing::zstd) return unpack_zstd(std::move(source), path);
  return source;
}

}  // namespace spillway
