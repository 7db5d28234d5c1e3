#include "io/spill/spill_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <chrono>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "io/ring/probe.hpp"

namespace spillway {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPageBytes = 4096;  // what direct I/O takes, in memory and file
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

std::int64_t elapsed_ns(Clock::time_point since) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since).count();
}

// Not every file system knows O_TMPFILE; there a name exists for the moment between two calls.
FileDescriptor open_without_name(std::filesystem::path const& directory) {
  FileDescriptor file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  if (errno == EOPNOTSUPP || errno == EISDIR) {
    auto name = (directory / "spillway-spill-XXXXXX").string();
    file = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (file) ::unlink(name.c_str());
  }
  if (!file) {
    throw Error(Status::bad_input, fmt::format("memory.nvme.path: no spill file in {}: {}",
                                               directory.string(), error_text(errno)));
  }
  return file;
}

[[noreturn]] void fail_no_space(std::filesystem::path const& directory, std::int64_t needed_bytes,
                                int error) {
  throw Error(
      Status::cannot_fit,
      fmt::format("memory.nvme.path: {} cannot hold the spill file: {} bytes needed, {} "
                  "free ({}); choose another path or a plan that spills less",
                  directory.string(), needed_bytes, free_bytes(directory), error_text(error)));
}

void allocate(FileDescriptor const& file, std::filesystem::path const& directory,
              std::int64_t size_bytes) {
  if (size_bytes == 0 || ::fallocate(file.get(), 0, 0, size_bytes) == 0) return;
  int error = errno;
  if (error == EOPNOTSUPP) {
    // A file system without reservation (NFS before 4.2): ask what is free, and trust it.
    bool const fits = free_bytes(directory) >= size_bytes;
    if (fits && ::ftruncate(file.get(), size_bytes) == 0) return;
    error = fits ? errno : ENOSPC;
  }
  fail_no_space(directory, size_bytes, error);
}

}  // namespace

void require_spill_place(std::filesystem::path const& directory) {
  open_without_name(directory);
}

SpillFile::SpillFile(std::filesystem::path const& directory, std::int64_t size_bytes,
                     std::int64_t extents, SpillSettings const& settings)
    : m_directory(directory),
      m_size_bytes(size_bytes),
      m_settings(settings),
      m_file(open_without_name(directory)),
      m_checksum_of(static_cast<std::size_t>(extents)) {
  allocate(m_file, directory, size_bytes);
  auto made = make_transfer_queue(settings.queue);
  m_queue = std::move(made.queue);
  if (!made.stepped_down.empty()) m_advice.push_back(std::move(made.stepped_down));
  if (size_bytes >= std::int64_t{kPageBytes}) open_direct();
}

// A second descriptor of the same file. That it opens does not mean that it moves anything: the
// probe has tried.
void SpillFile::open_direct() {
  auto const probe = probe_directory(m_directory);
  if (auto const bytes = probe.direct_alignment_bytes;
      bytes > 0 && bytes <= std::int64_t{kPageBytes}) {
    auto const again = fmt::format("/proc/self/fd/{}", m_file.get());
    m_direct = FileDescriptor(::open(again.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC));
  }
  if (!m_direct) m_advice.insert(m_advice.end(), probe.advice.begin(), probe.advice.end());
}

// The first of what is left: to the end of the pages that direct I/O can take, or all that is
// before and after them.
TransferRequest SpillFile::piece(TransferRequest const& rest) const {
  auto const in_page = [](auto place) { return static_cast<std::size_t>(place) % kPageBytes; };
  auto const page = in_page(reinterpret_cast<std::uintptr_t>(rest.memory.data()));
  auto piece = rest;
  piece.file = m_file.get();
  auto bytes = std::min(rest.memory.size(), kPieceBytes);
  if (m_direct && page == in_page(rest.offset_bytes)) {
    auto const whole = bytes / kPageBytes * kPageBytes;
    if (page > 0) {
      bytes = std::min(bytes, kPageBytes - page);
    } else if (whole > 0) {
      bytes = whole;
      piece.file = m_direct.get();
    }
  }
  piece.memory = rest.memory.first(bytes);
  piece.tag = bytes;
  return piece;
}

Transfer SpillFile::transfer(Direction direction, std::span<std::byte> memory,
                             std::int64_t offset_bytes) noexcept {
  std::lock_guard const lock(m_mutex);
  if (m_dead) return {0, ETIMEDOUT};
  TransferRequest rest{direction, -1, memory, offset_bytes, 0};
  Transfer all;
  while (m_queue->in_flight() > 0 || (all.error == 0 && !rest.memory.empty())) {
    while (all.error == 0 && !rest.memory.empty() && !m_queue->full()) {
      auto const next = piece(rest);
      m_queue->submit(next);
      rest.memory = rest.memory.subspan(next.memory.size());
      rest.offset_bytes += static_cast<std::int64_t>(next.memory.size());
    }
    auto const done = m_queue->wait(m_settings.patience_s);
    if (!done) {
      m_dead = true;
      return {all.done_bytes, ETIMEDOUT};
    }
    if (done->error == 0) all.done_bytes += static_cast<std::int64_t>(done->tag);
    if (all.error == 0) all.error = done->error;
  }
  return all;
}

IoResult SpillFile::write(std::int64_t extent, std::int64_t offset_bytes,
                          std::span<std::byte const> from) noexcept {
  auto const size = static_cast<std::int64_t>(from.size());
  assert(extent >= 0 && extent < static_cast<std::int64_t>(m_checksum_of.size()));
  assert(offset_bytes >= 0 && offset_bytes + size <= m_size_bytes);
  auto const fault = m_settings.faults ? m_settings.faults->before_write() : Fault::none;
  if (fault == Fault::error) return note_failure(Direction::write, extent, EIO);

  if (m_settings.checksums) m_checksum_of[static_cast<std::size_t>(extent)] = checksum(from);
  auto const start = Clock::now();
  // Nobody writes to it; a request has one kind of span for both directions.
  std::span const bytes(const_cast<std::byte*>(from.data()), from.size());
  auto const moved = transfer(Direction::write, bytes, offset_bytes);
  m_write_ns += elapsed_ns(start);
  m_written_bytes += moved.done_bytes;
  if (moved.error != 0) return note_failure(Direction::write, extent, moved.error);
  if (fault == Fault::flip_bit && size > 0) {
    std::byte const wrong[] = {from[0] ^ std::byte{1}};
    write_fully(m_file.get(), wrong, offset_bytes);
  }
  return IoResult::ok;
}

IoResult SpillFile::read(std::int64_t extent, std::int64_t offset_bytes,
                         std::span<std::byte> to) noexcept {
  auto const size = static_cast<std::int64_t>(to.size());
  assert(extent >= 0 && extent < static_cast<std::int64_t>(m_checksum_of.size()));
  assert(offset_bytes >= 0 && offset_bytes + size <= m_size_bytes);
  auto const fault = m_settings.faults ? m_settings.faults->before_read() : Fault::none;
  if (fault == Fault::error) return note_failure(Direction::read, extent, EIO);

  auto const start = Clock::now();
  auto const moved = transfer(Direction::read, to, offset_bytes);
  m_read_ns += elapsed_ns(start);
  m_read_bytes += moved.done_bytes;
  if (moved.error != 0) return note_failure(Direction::read, extent, moved.error);
  if (fault == Fault::flip_bit && size > 0) to[0] ^= std::byte{1};
  if (m_settings.checksums && checksum(to) != m_checksum_of[static_cast<std::size_t>(extent)]) {
    return note_failure(Direction::read, extent, 0);
  }
  return IoResult::ok;
}

IoResult SpillFile::note_failure(Direction direction, std::int64_t extent, int error) noexcept {
  std::int64_t none = -1;  // what fails later is often a consequence of the first
  if (m_failed_extent.compare_exchange_strong(none, extent)) {
    m_failed_direction = direction;
    m_failed_errno = error;
  }
  return error == 0 ? IoResult::corrupt : IoResult::error;
}

std::string SpillFile::first_failure() const {
  if (m_failed_extent < 0) return "";
  bool const reading = m_failed_direction == Direction::read;
  return fmt::format("spill file in {}: {} of extent {}: {}", m_directory.string(),
                     reading ? "read" : "write", m_failed_extent.load(),
                     m_failed_errno == 0 ? "not the bytes that were written (checksum differs)"
                                         : error_text(m_failed_errno));
}

SpillCounters SpillFile::counters() const {
  return {m_written_bytes, m_read_bytes, static_cast<double>(m_write_ns) * 1e-9,
          static_cast<double>(m_read_ns) * 1e-9};
}

}  // namespace spillway
