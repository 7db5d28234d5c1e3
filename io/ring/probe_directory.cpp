#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "io/file/file.hpp"
#include "io/ring/probe.hpp"

namespace spillway {
namespace {

constexpr std::int64_t largest_alignment_bytes = 65'536;

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
    case NFS_SUPER_MAGIC:
      return "nfs";
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

bool is_remote(std::string const& file_system) {
  return file_system == "nfs" || file_system == "lustre" || file_system == "gpfs" ||
         file_system == "beegfs";
}

FileDescriptor make_file(std::filesystem::path const& directory, int flags) {
  FileDescriptor file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600));
  if (file || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  auto name = (directory / "spillway-probe-XXXXXX").string();
  file = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC | flags));
  int const error = errno;
  if (file) ::unlink(name.c_str());
  errno = error;
  return file;
}

// Finds the smallest transfer that direct I/O takes here, in size, memory and offset alike.
void probe_direct(std::filesystem::path const& directory, DirectoryProbe& probe) {
  auto const file = make_file(directory, O_DIRECT);
  if (!file) {
    probe.direct_error = errno;
    return;
  }
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> const memory(static_cast<std::byte*>(
      std::aligned_alloc(2 * largest_alignment_bytes, 2 * largest_alignment_bytes)));
  if (!memory) {
    probe.direct_error = ENOMEM;
    return;
  }
  std::fill_n(memory.get(), 2 * largest_alignment_bytes, std::byte{0});
  for (std::int64_t bytes = 512; bytes <= largest_alignment_bytes; bytes *= 2) {
    auto const piece =
        std::span<std::byte const>(memory.get() + bytes, static_cast<std::size_t>(bytes));
    auto const written = write_fully(file.get(), piece, bytes);
    probe.direct_error = written.error;
    if (written.error == 0) {
      probe.direct_alignment_bytes = bytes;
      return;
    }
  }
}

std::vector<std::string> advice_on(std::filesystem::path const& directory,
                                   DirectoryProbe const& probe) {
  std::vector<std::string> advice;
  auto const name = directory.string();
  if (probe.file_system == "tmpfs") {
    advice.push_back(name +
                     " is in main memory (tmpfs): spilling there frees nothing; choose a disk");
  } else if (is_remote(probe.file_system)) {
    advice.push_back(fmt::format("{} is on {}: prefer a disk of this node for spilling", name,
                                 probe.file_system));
  }
  if (probe.write_error != 0) {
    advice.push_back(fmt::format("{} cannot be written: {}", name, error_text(probe.write_error)));
  } else if (probe.direct_error != 0 && probe.file_system != "tmpfs") {
    advice.push_back(
        fmt::format("{} refuses direct I/O (O_DIRECT: {}): spilled bytes will pass "
                    "through the page cache",
                    name, error_text(probe.direct_error)));
  }
  return advice;
}

}  // namespace

DirectoryProbe probe_directory(std::filesystem::path const& directory) {
  DirectoryProbe probe;
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0) {
    probe.write_error = probe.direct_error = errno;
    probe.advice = advice_on(directory, probe);
    return probe;
  }
  probe.file_system = file_system_name(info.f_type);
  probe.free_bytes =
      static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_bsize);
  if (!make_file(directory, 0)) probe.write_error = errno;
  probe_direct(directory, probe);
  probe.advice = advice_on(directory, probe);
  return probe;
}

}  // namespace spillway
