#include "io/spill/spill_storage.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#include "base/error_text.hpp"
#include "io/ring/probe.hpp"

namespace spillway {
namespace {

FileDescriptor open_file(std::filesystem::path const& directory) {
  auto file = open_without_name(directory);
  if (!file) {
    throw Error(Status::bad_input, fmt::format("memory.nvme.path: no spill file in {}: {}",
                                               directory.string(), error_text(errno)));
  }
  return file;
}

bool means_no_room(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

[[noreturn]] void fail_to_reserve(std::filesystem::path const& directory, std::int64_t needed_bytes,
                                  int error) {
  if (!means_no_room(error))
    throw Error(Status::storage, fmt::format("memory.nvme.path: {}: no bytes can be reserved: {}",
                                             directory.string(), error_text(error)));
  throw NoRoom(
      fmt::format("memory.nvme.path: {} cannot hold the spill file: {} bytes needed, {} "
                  "free ({}); choose another path or a plan that spills less",
                  directory.string(), needed_bytes, free_bytes(directory), error_text(error)));
}

void allocate(FileDescriptor const& file, std::filesystem::path const& directory,
              std::int64_t size_bytes) {
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

void require_spill_place(std::filesystem::path const& directory) {
  open_file(directory);
}

SpillStorage::SpillStorage(std::filesystem::path const& directory, std::int64_t size_bytes)
    : m_file(open_file(directory)) {
  allocate(m_file, directory, size_bytes);
  if (size_bytes > 0) open_direct(directory);
}

// A file that can be opened with O_DIRECT may still refuse transfers, so a probe tries one first.
void SpillStorage::open_direct(std::filesystem::path const& directory) {
  auto const probe = probe_directory(directory);
  if (auto const bytes = probe.direct_alignment_bytes;
      bytes > 0 && bytes <= std::int64_t{kPageBytes}) {
    auto const again = fmt::format("/proc/self/fd/{}", m_file.get());
    m_direct = FileDescriptor(::open(again.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC));
  }
  if (m_direct) return;
  m_advice = probe.advice;
  // A run warns of the directory's file system when it begins, so the warning is left out here.
  std::erase(m_advice, place_advice(directory.string(), probe.file_system));
}

}  // namespace spillway
