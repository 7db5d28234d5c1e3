#include "io/spill/spill_storage.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/error_text.hpp"
#include "io/ring/probe.hpp"

namespace spillway {
namespace {

bool means_no_room(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

[[noreturn]] void fail_to_reserve(std::string const& directory, std::int64_t needed_bytes,
                                  int error) {
  if (!means_no_room(error))
    throw Error(Status::storage, fmt::format("memory.nvme.path: {}: no bytes can be reserved: {}",
                                             directory, error_text(error)));
  throw NoRoom(
      fmt::format("memory.nvme.path: {} cannot hold the spill file: {} bytes needed, {} "
                  "free ({}); choose another path or a plan that spills less",
                  directory, needed_bytes, free_bytes(directory), error_text(error)));
}

void allocate(FileDescriptor const& file, std::string const& directory, std::int64_t size_bytes) {
  if (size_bytes == 0) return;
  int error = EINTR;
  while (error == EINTR) error = ::fallocate(file.get(), 0, 0, size_bytes) == 0 ? 0 : errno;
  if (error == 0) return;
  if (error == EOPNOTSUPP) {
    // This file system cannot reserve space (NFS before 4.2 cannot), so the check is only that
    // enough bytes are free now.
    bool const fits = free_bytes(directory) >= size_bytes;
    if (fits && ::ftruncate(file.get(), size_bytes) == 0) return;
    error = fits ? errno : ENOSPC;
  }
  fail_to_reserve(directory, size_bytes, error);
}

}  // namespace

FileDescriptor open_spill_file(std::string const& directory) {
  auto file = open_without_name(directory);
  if (!file) {
    throw Error(Status::bad_input, fmt::format("memory.nvme.path: no spill file in {}: {}",
                                               directory, error_text(errno)));
  }
  return file;
}

SpillStorage::SpillStorage(Directories directories, std::int64_t size_bytes)
    : m_directories(std::move(directories)), m_stripes(m_directories.all.size()) {
  for (auto const& directory : m_directories.all) {
    auto& drive = m_drives.emplace_back(Drive{open_spill_file(directory), {}});
    allocate(drive.file, directory, m_stripes.file_bytes(size_bytes, m_drives.size() - 1));
    if (size_bytes > 0) open_direct(directory, drive);
  }
}

// A file that can be opened with O_DIRECT may still refuse transfers, so a probe tries one first.
void SpillStorage::open_direct(std::string const& directory, Drive& drive) {
  auto const probe = probe_directory(directory);
  if (auto const bytes = probe.direct_alignment_bytes;
      bytes > 0 && bytes <= std::int64_t{kPageBytes}) {
    auto const again = fmt::format("/proc/self/fd/{}", drive.file.get());
    drive.direct = FileDescriptor(::open(again.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC));
  }
  if (drive.direct) return;
  // A run warns of the directory's file system when it begins, so the warning is left out here.
  auto const known = place_advice(directory, probe.file_system);
  std::ranges::remove_copy(probe.advice, std::back_inserter(m_advice), known);
}

SpillStorage::Place SpillStorage::place(std::int64_t address) const {
  auto const place = m_stripes.place(address);
  auto const& drive = m_drives[place.file];
  return {place.file, drive.file.get(), drive.direct.get(), place.offset_bytes};
}

bool SpillStorage::direct() const {
  return std::ranges::all_of(m_drives, [](auto const& drive) { return drive.direct.get() >= 0; });
}

std::string const& SpillStorage::directory_of(int descriptor) const {
  auto const found = std::ranges::find_if(m_drives, [&](auto const& drive) {
    return drive.file.get() == descriptor || drive.direct.get() == descriptor;
  });
  return m_directories.all[static_cast<std::size_t>(found - m_drives.begin())];
}

}  // namespace spillway
