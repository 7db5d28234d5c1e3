#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "base/error_text.hpp"
#include "base/math.hpp"
#include "base/pages.hpp"
#include "io/file/file.hpp"
#include "io/ring/probe.hpp"

namespace spillway {
namespace {

constexpr std::intptr_t largest_alignment_bytes = 65'536;

constexpr std::string_view kRemote[] = {"nfs", "smb", "ceph", "lustre", "gpfs", "beegfs"};
constexpr std::string_view kMemory[] = {"tmpfs", "ramfs"};

bool is_one_of(std::span<std::string_view const> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Finds the smallest unit of which sizes, addresses and offsets of direct I/O must be multiples.
void probe_direct(std::filesystem::path const& directory, DirectoryProbe& probe) {
  auto const file = open_without_name(directory, O_DIRECT);
  if (!file) {
    probe.direct_error = errno;
    return;
  }
  // Each size is tried with memory that is aligned to that size but not to twice that size.
  Pages const pages(4 * largest_alignment_bytes, "memory to probe direct I/O with");
  auto const from = reinterpret_cast<std::intptr_t>(pages.data());
  auto* const memory = pages.data() + (round_up(from, 2 * largest_alignment_bytes) - from);
  for (std::int64_t bytes = 512; bytes <= largest_alignment_bytes; bytes *= 2) {
    auto const piece = std::span<std::byte const>(memory + bytes, static_cast<std::size_t>(bytes));
    auto const written = write_fully(file.get(), piece, bytes);
    probe.direct_error = written.error;
    if (written.error == 0) {
      probe.direct_alignment_bytes = bytes;
      return;
    }
  }
}

}  // namespace

std::string file_system_name(long magic) {
  switch (static_cast<unsigned long>(magic)) {
    case EXT4_SUPER_MAGIC:
      return "ext4";
    case XFS_SUPER_MAGIC:
      return "xfs";
    case BTRFS_SUPER_MAGIC:
      return "btrfs";
    case F2FS_SUPER_MAGIC:
      return "f2fs";
    case TMPFS_MAGIC:
      return "tmpfs";
    case OVERLAYFS_SUPER_MAGIC:
      return "overlay";
    case RAMFS_MAGIC:
      return "ramfs";
    case NFS_SUPER_MAGIC:
      return "nfs";
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
      return "smb";
    case CEPH_SUPER_MAGIC:
      return "ceph";
    case 0x0bd00bd0:
      return "lustre";
    case 0x47504653:
      return "gpfs";
    case 0x19830326:
      return "beegfs";
    case 0x2fc12fc1:
      return "zfs";
    default:
      return fmt::format("{:#x}", static_cast<unsigned long>(magic));
  }
}

std::string file_system_of(std::filesystem::path const& directory) {
  struct statfs info {};
  return ::statfs(directory.c_str(), &info) == 0 ? file_system_name(info.f_type) : "";
}

std::string place_advice(std::string const& directory, std::string const& file_system) {
  if (is_one_of(kMemory, file_system))
    return fmt::format("{} is in main memory ({}): spilling there frees nothing; choose a disk",
                       directory, file_system);
  if (is_one_of(kRemote, file_system))
    return fmt::format("{} is on {}: prefer a disk of this node for spilling", directory,
                       file_system);
  return "";
}

std::vector<std::string> directory_advice(std::filesystem::path const& directory,
                                          DirectoryProbe const& probe) {
  std::vector<std::string> advice;
  auto const name = directory.string();
  if (auto place = place_advice(name, probe.file_system); !place.empty())
    advice.push_back(std::move(place));
  if (probe.write_error != 0) {
    advice.push_back(fmt::format("{} cannot be written: {}", name, error_text(probe.write_error)));
  } else if (probe.direct_error != 0 && !is_one_of(kMemory, probe.file_system)) {
    advice.push_back(
        fmt::format("{} refuses direct I/O (O_DIRECT: {}): spilled bytes will pass "
                    "through the page cache",
                    name, error_text(probe.direct_error)));
  }
  return advice;
}

DirectoryProbe probe_directory(std::filesystem::path const& directory) {
  DirectoryProbe probe;
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0) {
    probe.write_error = probe.direct_error = errno;
    probe.advice = directory_advice(directory, probe);
    return probe;
  }
  probe.file_system = file_system_name(info.f_type);
  probe.free_bytes =
      static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
  if (!open_without_name(directory)) probe.write_error = errno;
  probe_direct(directory, probe);
  probe.advice = directory_advice(directory, probe);
  return probe;
}

}  // namespace spillway
