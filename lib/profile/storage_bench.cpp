#include "profile/storage_bench.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/steady_clock.hpp"
#include "profile/noise.hpp"

namespace spillway {
namespace {

// Each transfer moves at most this many bytes, which is about as many as in a training step.
constexpr std::int64_t kTransferBytes = std::int64_t{4} << 20;
constexpr double kWriteAll_s = 0.5;

std::int64_t transfer_bytes(std::int64_t size_bytes) {
  auto const most = size_bytes / StorageBench::kLeastBytes * kSpillAlignment;
  return std::min(kTransferBytes, most);
}

double thread_cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

Pages StorageBench::memory_for(std::int64_t size_bytes) {
  return Pages(static_cast<std::size_t>(2 * kUnderWay * transfer_bytes(size_bytes)),
               "memory to measure the drive with");
}

StorageBench::StorageBench(Pages memory, Directories const& directories, std::int64_t size_bytes,
                           bool checksums)
    : m_transfer_bytes(transfer_bytes(size_bytes)),
      m_memory(std::move(memory)),
      m_file(directories, size_bytes, {.checksums = checksums, .spare_bytes = 0}) {
  fill_with_noise(m_memory.all());
  m_half_transfers = write_first(size_bytes / m_transfer_bytes) / 2;
}

// Writes transfers from the beginning of the file on, until all are written or kWriteAll_s are
// over. Returns how many were written.
std::int64_t StorageBench::write_first(std::int64_t transfers) noexcept {
  auto const start = SteadyClock::now();
  std::int64_t i = 0;
  for (; i < transfers && (i < 2 * kUnderWay || seconds_since(start) < kWriteAll_s); ++i) {
    if (m_file.under_way() == kUnderWay) end_one();
    m_file.begin({Direction::write, memory(0), i * m_transfer_bytes, 0});
  }
  while (end_one()) {
  }
  return i;
}

StorageBench::Moved StorageBench::stream(std::span<Direction const> directions,
                                         double least_s) noexcept {
  auto const start = SteadyClock::now();
  double const before_s = thread_cpu_s();
  double gb = 0;
  for (Direction const direction : directions) {
    for (std::int64_t i = 0; i < kUnderWay; ++i)
      begin(direction, static_cast<std::int64_t>(direction) * kUnderWay + i);
  }
  while (auto const transfer = end_one()) {
    gb += 1e-9 * static_cast<double>(m_transfer_bytes);
    if (m_sound && seconds_since(start) < least_s)
      begin(static_cast<Direction>(*transfer / kUnderWay), *transfer);
  }
  m_moved_gb += gb;
  m_cpu_s += thread_cpu_s() - before_s;
  return m_sound ? Moved{gb, seconds_since(start)} : Moved{};
}

double StorageBench::core_s_per_gb() const {
  return m_moved_gb > 0 ? m_cpu_s / m_moved_gb : 0;
}

std::span<std::byte> StorageBench::memory(std::int64_t transfer) const {
  return m_memory.all().subspan(static_cast<std::size_t>(transfer * m_transfer_bytes),
                                static_cast<std::size_t>(m_transfer_bytes));
}

// Begins a transfer at the next place in the direction's half of the file.
void StorageBench::begin(Direction direction, std::int64_t transfer) noexcept {
  auto const half = static_cast<std::int64_t>(direction);
  auto const place =
      half * m_half_transfers + m_begun[static_cast<std::size_t>(direction)]++ % m_half_transfers;
  m_file.begin({direction, memory(transfer), place * m_transfer_bytes,
                static_cast<std::uint64_t>(transfer)});
}

// Waits for the end of a transfer and returns its number, or nothing if none is under way.
std::optional<std::int64_t> StorageBench::end_one() noexcept {
  while (m_file.under_way() > 0) {
    auto const done = m_file.wait(SpillFile::kForever_s);
    if (!done) continue;
    m_sound = m_sound && done->result == IoResult::ok;
    return static_cast<std::int64_t>(done->tag);
  }
  return {};
}

}  // namespace spillway
