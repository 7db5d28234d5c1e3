#include "tests/support/cuda/device_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace spillway::test::cuda {
namespace {

constexpr int kTrapping = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// All memory is one file, because backends map granules one by one and a process can open few
// files. Offsets are not used again: what is freed becomes a hole in the file.
int memory_file() {
  static int const file = ::memfd_create("device", MFD_CLOEXEC);
  return file;
}
std::int64_t g_file_bytes = 0;

void* map_file(void* at, int more_flags, std::int64_t offset, std::int64_t bytes) {
  return ::mmap(at, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                MAP_SHARED | more_flags, memory_file(), offset);
}

// Fills memory with NaN. The states behind it are zeros as the file is made longer: kUnknown.
bool fill_with_nan(std::int64_t offset, std::int64_t bytes) {
  auto* const at = map_file(nullptr, 0, offset, bytes);
  if (at == MAP_FAILED) return false;
  std::memset(at, 0xff, static_cast<std::size_t>(bytes));
  release_pages(at, bytes);
  return true;
}

}  // namespace

std::byte* reserve_pages(std::int64_t bytes, std::int64_t alignment) {
  auto const size = static_cast<std::size_t>(bytes), slack = static_cast<std::size_t>(alignment);
  auto* const all = ::mmap(nullptr, size + slack, PROT_NONE, kTrapping, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto const before = -reinterpret_cast<std::uintptr_t>(all) % slack;
  auto* const first = static_cast<std::byte*>(all) + before;
  if (before > 0) ::munmap(all, before);
  if (slack > before) ::munmap(first + size, slack - before);
  return first;
}

void release_pages(void* first, std::int64_t bytes) {
  ::munmap(first, static_cast<std::size_t>(bytes));
}

void unmap_pages(void* first, std::int64_t bytes) {
  ::mmap(first, static_cast<std::size_t>(bytes), PROT_NONE, kTrapping | MAP_FIXED, -1, 0);
}

std::shared_ptr<DevicePages> DevicePages::make(int device, std::int64_t bytes) {
  auto const offset = g_file_bytes;
  if (memory_file() < 0 || ::ftruncate(memory_file(), offset + 2 * bytes) != 0) return nullptr;
  if (!fill_with_nan(offset, bytes)) return nullptr;
  g_file_bytes += 2 * bytes;
  return std::shared_ptr<DevicePages>(new DevicePages(device, offset, bytes));
}

DevicePages::~DevicePages() {
  ::fallocate(memory_file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, m_offset, 2 * m_bytes);
}

void DevicePages::map(std::int64_t bytes, std::byte* memory, std::uint8_t* states) const {
  map_file(memory, MAP_FIXED, m_offset, bytes);
  map_file(states, MAP_FIXED, m_offset + m_bytes, bytes);
}

}  // namespace spillway::test::cuda
