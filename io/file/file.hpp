// These functions handle plain POSIX files: complete transfers, sizes, free space, durable
// replacement.
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

// Says whether closing a file waits until its data is on storage. `no` is for files that nobody
// needs after a crash, and for files that another descriptor will synchronise.
enum class Durable : bool { no, yes };

// This is the mode of new files that have a name. The user's umask decides who may read them, as it
// does for files that HDF5 makes.
inline constexpr mode_t kFileMode = 0666;

// Says how far a transfer came. `error` is an errno or 0. If it is 0 and fewer bytes were moved
// than asked for, the file has ended.
struct TransferResult {
  std::int64_t done_bytes = 0;
  int error = 0;
};

// read_fully and write_fully move all bytes at an offset: short transfers are continued,
// interrupted ones retried. They neither allocate nor throw.
TransferResult read_fully(int fd, std::span<std::byte> to, std::int64_t offset_bytes) noexcept;
TransferResult write_fully(int fd, std::span<std::byte const> from,
                           std::int64_t offset_bytes) noexcept;

// Opens a new file in `directory` for reading and writing. It has no name and is gone when its
// descriptor is closed; where the file system lacks O_TMPFILE, it has a name for a moment. `flags`
// are further flags of open, such as O_DIRECT. Does not throw: on failure the descriptor is empty,
// and errno says why.
FileDescriptor open_without_name(std::filesystem::path const& directory, int flags = 0) noexcept;

// Returns the size of an open file. Throws Error(storage), which names `path`, if the system cannot
// tell the size.
std::int64_t size_bytes(FileDescriptor const& file, std::filesystem::path const& path);

// Returns whether `path` still leads to the open file, which may have been removed or replaced.
// Returns true if the system does not say.
bool is_named(FileDescriptor const& file, std::filesystem::path const& path) noexcept;

// Returns how many bytes an unprivileged process may still write on the file system of `directory`.
// Throws Error(bad_input) if it cannot be examined.
std::int64_t free_bytes(std::filesystem::path const& directory);

// Throws Error(bad_input) if fewer than `needed_bytes` are free on the file system of `directory`,
// or if that cannot be found out. `what` is for the message: it names what needs the bytes.
void require_free_bytes(std::filesystem::path const& directory, std::int64_t needed_bytes,
                        char const* what);

// Waits until a file's data, or a directory's entries, are on storage. Throws Error(storage). If
// the file system cannot synchronise directories, logs a warning instead, once in a process.
void sync_path(std::filesystem::path const& path);

// Makes a directory and its missing parents, durably. Throws Error(storage).
void make_directories(std::filesystem::path const& path);

// Replaces a small text file so that, however the machine dies, either the old or the new text is
// there. Throws Error(storage), and then leaves no temporary file behind.
void replace_text(std::filesystem::path const& path, std::string_view text);

// prepare_text and publish_text are the two halves of replace_text, for callers that do something
// in between. prepare_text writes the text to prepared_path(path), and publish_text renames that
// file to `path`. Both throw Error(storage). If the renaming fails, the prepared file stays.
std::filesystem::path prepared_path(std::filesystem::path const& path);
void prepare_text(std::filesystem::path const& path, std::string_view text);
void publish_text(std::filesystem::path const& path);

}  // namespace spillway
