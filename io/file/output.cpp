#include "io/file/output.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/write_all.hpp"
#include "io/file/destination.hpp"
#include "io/file/file.hpp"
#include "io/file/output_file.hpp"
#include "io/file/path_names.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr OutputKind kAnyFile{"a file", [](std::string_view) { return true; }};

[[noreturn]] void forbid(fs::path const& path, std::string const& what) {
  throw Error(Status::bad_input, fmt::format("{}: {}", path.string(), what));
}
[[noreturn]] void fail_output(fs::path const& path, char const* what) {
  auto const why = error_text(errno);
  throw Error(Status::storage, fmt::format("{}: {}: {}", path.string(), what, why));
}

void require_no_input(fs::path const& path, Destination const& to, OutputRule const& rule) {
  for (auto const& input : rule.inputs) {
    struct stat info {};
    bool const is_it = S_ISREG(to.info.st_mode) && ::stat(input.c_str(), &info) == 0 &&
                       is_same_file(info, to.info);
    if (is_it) forbid(path, "is read by this command, too: name another file to write");
  }
}

std::string beginning_of(fs::path const& path) {
  FileDescriptor const file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::string text(kBeginningBytes, '\0');
  auto const read = read_fully(file.get(), std::as_writable_bytes(std::span(text)), 0);
  text.resize(static_cast<std::size_t>(read.done_bytes));
  return text;
}

void require_ours(fs::path const& path, Destination const& to, OutputRule const& rule) {
  if (rule.force) return;
  auto const beginning = beginning_of(to.path);
  // A file of /proc may have contents although its size is said to be 0.
  bool const is_empty = to.info.st_size == 0 && beginning.empty();
  if (is_empty || rule.kind.is_ours(beginning)) return;
  forbid(path, fmt::format("is there and is not {} of this program: choose another name, or "
                           "replace it with --force",
                           rule.kind.name));
}

// Throws if the rule forbids what `path` leads to. A block device needs `force`, unlike other
// devices, because writing to it destroys what it holds.
void require_kind(fs::path const& path, Destination const& to, OutputRule const& rule) {
  auto const kind = to.info.st_mode & S_IFMT;
  if (kind == S_IFDIR) forbid(path, "is a directory: name a file");
  if (kind == S_IFSOCK && !to.descriptor) forbid(path, "is a socket: name a file");
  if (kind == S_IFBLK && !rule.force)
    forbid(path, "is a drive: name a file, or write over the drive with --force");
  if (kind == S_IFREG && !to.descriptor) require_ours(path, to, rule);
}

void require_room(fs::path const& path, Destination const& to) {
  if (to.is_written_through() || open_without_name(directory_of(to.path))) return;
  forbid(path, fmt::format("cannot be created: {}", error_text(errno)));
}

Destination judged(fs::path const& path, OutputRule const& rule) {
  if (path.empty()) forbid("''", "is no name of a file");
  if (!path.has_filename()) forbid(path, "is a directory: name a file");
  auto to = destination_of(path);
  if (to.exists) {
    require_no_input(path, to, rule);
    require_kind(path, to, rule);
  }
  require_room(path, to);
  return to;
}

// Makes an empty file whose name is `target` and a suffix that no other process uses.
fs::path make_beside(fs::path const& target) {
  constexpr int most_tries = 100;
  for (int i = 0;; ++i) {
    auto const suffix =
        fmt::format(".spillway-{}{}", ::getpid(), i == 0 ? "" : fmt::format(".{}", i));
    auto const path = fs::path(target) += suffix;
    FileDescriptor const file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
    if (file) return path;
    if (errno != EEXIST || i == most_tries)
      forbid(target, "cannot be created: " + error_text(errno));
  }
}

// Makes a folder for this user alone, in which the contents are written before they are copied to a
// device or a pipe.
fs::path make_folder(fs::path const& path) {
  std::error_code error;
  auto folder = (fs::temp_directory_path(error) / "spillway-output-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr)
    forbid(path, "wants a folder for what passes through it: set TMPDIR to one");
  return folder;
}

fs::path make_for(Output const& output) {
  output.require_allowed();
  auto const to = destination_of(output.path());
  return to.is_written_through() ? make_folder(output.path()) : make_beside(to.path);
}

// Returns the path of the file to write: `made` itself or, if `made` is a folder, a new file in it.
fs::path file_in(fs::path const& made) {
  std::error_code ignored;
  if (!fs::is_directory(made, ignored)) return made;
  return make_beside(made / "output");
}

// If the path names an open descriptor, returns a duplicate. It shares the offset, so that bytes
// which others have written through the descriptor are not overwritten.
FileDescriptor open_through(fs::path const& path, Destination const& to) {
  FileDescriptor file(to.descriptor ? ::fcntl(*to.descriptor, F_DUPFD_CLOEXEC, 0)
                                    : ::open(to.path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) fail_output(path, "cannot be opened for writing");
  return file;
}

void write_through(FileDescriptor const& file, std::string_view text, fs::path const& path) {
  errno = write_all(file.get(), text);
  if (errno != 0) fail_output(path, "cannot be written");
}

void close_written(FileDescriptor file, fs::path const& path) {
  if (::close(file.release()) != 0) fail_output(path, "cannot be written");
}

void copy_through(fs::path const& from, fs::path const& path, Destination const& to) {
  auto const source = open_for_reading(from);
  auto file = open_through(path, to);
  std::array<char, 1 << 16> piece;
  for (std::int64_t at = 0;;) {
    auto const read = read_fully(source.get(), std::as_writable_bytes(std::span(piece)), at);
    errno = read.error;
    if (read.error != 0) fail_output(from, "cannot be read");
    if (read.done_bytes == 0) break;
    write_through(file, {piece.data(), static_cast<std::size_t>(read.done_bytes)}, path);
    at += read.done_bytes;
  }
  close_written(std::move(file), path);
}

}  // namespace

bool is_of_kind(fs::path const& file, OutputKind const& kind) {
  return kind.is_ours(beginning_of(file));
}

Output::Output(fs::path path, OutputRule rule) : m_path(std::move(path)), m_rule(std::move(rule)) {
  require_allowed();
}
Output::Output(fs::path path) : Output(std::move(path), OutputRule{kAnyFile, {}, false}) {}

void Output::require_allowed() const {
  judged(m_path, m_rule);
}

bool Output::is_written_through() const {
  return destination_of(m_path).is_written_through();
}

bool Output::is_standard_output() const {
  struct stat printed {};
  auto const to = destination_of(m_path);
  return to.is_written_through() && ::fstat(STDOUT_FILENO, &printed) == 0 &&
         is_same_file(printed, to.info);
}

UnfinishedFile::UnfinishedFile(Output output)
    : m_output(std::move(output)),
      m_partial([this] { return make_for(m_output); }),
      m_path(file_in(m_partial.path())) {}

void UnfinishedFile::finish() {
  m_output.require_allowed();
  auto const to = destination_of(m_output.path());
  if (to.is_written_through()) return copy_through(path(), m_output.path(), to);
  m_partial.publish([&] {
    if (::rename(path().c_str(), to.path.c_str()) != 0)
      fail_output(m_output.path(), "cannot be given its name");
  });
  sync_path(directory_of(to.path));
}

void write_output(Output const& output, std::string_view text) {
  output.require_allowed();
  auto const to = destination_of(output.path());
  if (to.is_written_through()) {
    auto file = open_through(output.path(), to);
    write_through(file, text, output.path());
    return close_written(std::move(file), output.path());
  }
  UnfinishedFile unfinished(output);
  auto file = OutputFile::open(unfinished.path());
  file.write(0, std::as_bytes(std::span(text)));
  file.close();
  unfinished.finish();
}

void require_apart(fs::path const& directory, fs::path const& input) {
  std::error_code failed;
  auto const written = fs::weakly_canonical(directory, failed);
  if (failed) return;  // making the directory reports the error
  auto const read = fs::weakly_canonical(input, failed);
  if (failed) return;
  auto const is_in = [](fs::path const& inner, fs::path const& outer) {
    return std::ranges::mismatch(inner, outer).in2 == outer.end();
  };
  if (is_in(read, written))
    forbid(directory, "is or holds what this command reads: name another directory");
}

}  // namespace spillway
