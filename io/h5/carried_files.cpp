#include "io/h5/carried_files.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/error_text.hpp"
#include "io/file/inside.hpp"
#include "io/file/output_file.hpp"
#include "io/file/read_file.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

CarriedSum sum_of(std::string const& text) {
  return {std::ssize(text), checksum_text(checksum(std::as_bytes(std::span(text))))};
}

// Reads one carried file. Throws Error if it is missing, cannot be read, or is not as the seal
// says.
CarriedFile read_one(fs::path const& path, CarriedSum const& sum) {
  auto const refuse = [&](std::string const& why) {
    throw Error(Status::damaged, fmt::format("{}: {}", path.string(), why));
  };
  if (sum.bytes > kMostCarriedBytes) refuse("is larger than what is carried");
  auto const file = open_inside(path.parent_path(), path.filename().string());
  CarriedFile found{path.filename(), mode_of(file, path), read_text(file, path, kMostCarriedBytes)};
  if (sum_of(found.text) != sum) refuse("is not what was written");
  return found;
}

// Returns `damaged` if the file is known to be missing or to be no file, otherwise the error's own
// status, because a file that is there may be sound even if it cannot be opened now.
Status status_of(Error const& error, fs::path const& path) {
  std::error_code ignored;
  auto const type = fs::symlink_status(path, ignored).type();
  bool const may_be_sound = type == fs::file_type::regular || type == fs::file_type::none;
  return error.status() == Status::bad_input && !may_be_sound ? Status::damaged : error.status();
}

}  // namespace

std::int64_t size_bytes(CarriedFiles const& files) {
  std::int64_t bytes = 0;
  for (auto const& file : files) bytes += std::ssize(file.text);
  return bytes;
}

CarriedSums write_carried(fs::path const& checkpoint, CarriedFiles const& files) {
  CarriedSums sums;
  auto const folder = checkpoint / kCarriedFolder;
  if (files.empty()) return sums;
  make_directories(folder);
  for (auto const& file : files) {
    write_file(folder / file.name, file.text, Durable::yes, file.mode);
    sums[file.name] = sum_of(file.text);
  }
  sync_path(folder);
  return sums;
}

FoundFiles read_carried(fs::path const& checkpoint, CarriedSums const& sums) {
  FoundFiles found;
  auto const folder = checkpoint / kCarriedFolder;
  std::int64_t left_bytes = kMostCarriedBytesInAll;
  std::size_t left = kMostCarriedFiles;
  for (auto const& [name, sum] : sums) {
    try {
      if (left == 0 || sum.bytes > left_bytes)
        throw Error(Status::damaged,
                    fmt::format("{}: is more than what is carried", (folder / name).string()));
      found.files.push_back(read_one(folder / name, sum));
      left_bytes -= sum.bytes;
      --left;
    } catch (Error const& error) {
      if (error.status() == Status::cannot_fit) throw;
      found.unread.emplace_back(status_of(error, folder / name), error.what());
    }
  }
  return found;
}

mode_t mode_of(FileDescriptor const& file, fs::path const& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0)
    throw Error(Status::storage,
                fmt::format("{}: cannot be examined: {}", path.string(), error_text(errno)));
  return info.st_mode & kFileMode;
}

}  // namespace spillway
