// Plain POSIX files: descriptors that close themselves, complete transfers, durable replacement.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/input_file.hpp"

namespace spillway {

// Whether closing a file waits until it is on storage. No: for what nobody needs after a crash, or
// what another descriptor of the file will synchronise.
enum class Durable : bool { no, yes };

// Of every file that is written under a name: whom it is for, the user says by the umask. HDF5 and
// mkdir do the same.
inline constexpr mode_t kFileMode = 0666;

// How far a transfer came. error is an errno; 0 with fewer bytes than asked for is the end of file.
struct Transfer {
  std::int64_t done_bytes = 0;
  int error = 0;
};

// Complete transfers at an offset: short ones are continued, interrupted ones retried. They do not
// allocate and do not throw, so that the I/O thread may call them.
Transfer read_fully(int fd, std::span<std::byte> to, std::int64_t offset_bytes) noexcept;
Transfer write_fully(int fd, std::span<std::byte const> from, std::int64_t offset_bytes) noexcept;

// A new file in `directory` for reading and writing, gone with its descriptor; where the file
// system knows no O_TMPFILE, a name exists for the moment between two calls. `flags`: of open, such
// as O_DIRECT. Does not throw: none, and errno says why.
FileDescriptor open_without_name(std::filesystem::path const& directory, int flags = 0) noexcept;

// Size of an open file. Throws Error(storage) naming `path`.
std::int64_t size_bytes(FileDescriptor const& file, std::filesystem::path const& path);

// Whether `path` still leads to the open file: it may have been removed or replaced. What cannot be
// looked at now is taken to.
bool is_named(FileDescriptor const& file, std::filesystem::path const& path) noexcept;

// Bytes that an unprivileged process may still write where `directory` is. Throws Error(bad_input).
std::int64_t free_bytes(std::filesystem::path const& directory);

// Throws Error(bad_input) where fewer are free than `what` needs: nothing has been started yet.
void require_free_bytes(std::filesystem::path const& directory, std::int64_t needed_bytes,
                        char const* what);

// Waits until a file's data, or a directory's entries, are on storage. Throws Error(storage). A
// file system that cannot do it for directories is warned of once.
void sync_path(std::filesystem::path const& path);

// With its parents, where they are missing, and durable. Throws Error(storage).
void make_directories(std::filesystem::path const& path);

// Replaces a small text file so that, however the machine dies, the old or the new text is there.
// Throws Error(storage) and leaves nothing behind then.
void replace_text(std::filesystem::path const& path, std::string_view text);

// Its two halves, for what must happen between them. The text waits in prepared_path(path); one
// that cannot take its place stays there.
std::filesystem::path prepared_path(std::filesystem::path const& path);
void prepare_text(std::filesystem::path const& path, std::string_view text);
void publish_text(std::filesystem::path const& path);

// The text of an errno, in one line.
std::string error_text(int error);

}  // namespace spillway
