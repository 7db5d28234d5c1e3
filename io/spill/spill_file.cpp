#include "io/spill/spill_file.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>

#include "base/allocator_pass.hpp"
#include "base/check.hpp"
#include "base/checksum.hpp"
#include "base/math.hpp"
#include "io/ring/probe.hpp"

namespace spillway {
namespace {

constexpr std::string_view kSpillFile = "the spill file";

Direction other(Direction direction) {
  return direction == Direction::read ? Direction::write : Direction::read;
}

std::vector<int> numbers(int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

int take(std::vector<int>& free) {
  int const number = free.back();
  free.pop_back();
  return number;
}

std::int64_t spares(SpillSettings const& settings, std::int64_t size_bytes) {
  return size_bytes > 0 ? div_ceil(settings.spare_bytes, kSpillPieceBytes) : 0;
}

// Spare places begin at a stripe, so that each of them lies on one drive.
std::int64_t first_spare(Directories const& directories, std::int64_t size_bytes) {
  return Stripes(directories.all.size()).next_begin(size_bytes);
}
static_assert(kStripeBytes % kSpillPieceBytes == 0);

}  // namespace

SpillFile::SpillFile(Directories const& directories, std::int64_t size_bytes,
                     SpillSettings const& settings)
    : SpillFile(directories, size_bytes, settings, make_transfer_queue(settings.queue)) {}

SpillFile::SpillFile(Directories const& directories, std::int64_t size_bytes,
                     SpillSettings const& settings, MadeQueue made)
    : m_size_bytes(size_bytes),
      m_settings(settings),
      m_storage(directories, first_spare(directories, size_bytes) +
                                 spares(settings, size_bytes) * kSpillPieceBytes),
      m_advice(m_storage.advice()),
      m_running(static_cast<std::size_t>(settings.transfers)),
      m_free(numbers(settings.transfers)),
      m_done(m_running.size()),
      m_pieces(static_cast<std::size_t>(made.queue->depth())),
      m_free_pieces(numbers(made.queue->depth())),
      m_traffic{Traffic(m_running.size()), Traffic(m_running.size())},
      m_checksums(static_cast<std::size_t>(div_ceil(size_bytes, kSpillAlignment))),
      m_spares(first_spare(directories, size_bytes), kSpillPieceBytes,
               spares(settings, size_bytes)),
      m_silence(longest_look_s(settings.patience_s)),
      m_failure(directories),
      m_queue(std::move(made.queue)) {
  if (!made.why_not_uring.empty()) m_advice.insert(m_advice.begin(), made.why_not_uring);
}

bool SpillFile::register_memory(std::span<std::span<std::byte> const> memory) {
  if (m_gave_up) return true;  // after give_up(), nothing is moved, but requests may be in flight
  check(under_way() == 0, kSpillFile, "registers memory while transfers are under way");
  int const error = m_queue->register_memory(memory);
  if (error != 0) {
    std::int64_t bytes = 0;
    for (auto const& part : memory) bytes += std::ssize(part);
    m_advice.push_back(register_advice(bytes, error));
  }
  return error == 0;
}

int SpillFile::under_way() const {
  return static_cast<int>(m_running.size() - m_free.size());
}

void SpillFile::begin(SpillTransfer const& transfer) noexcept {
  check(!full() && !transfer.memory.empty(), kSpillFile, "is full, or asked to move nothing");
  check(transfer.offset_bytes >= 0 && transfer.offset_bytes % kSpillAlignment == 0, kSpillFile,
        "a transfer begins before it, or between its sectors");
  check(transfer.offset_bytes + std::ssize(transfer.memory) <= m_size_bytes, kSpillFile,
        "a transfer reaches beyond its end");
  bool const reading = transfer.direction == Direction::read;
  auto* const faults = m_settings.faults;
  auto const number = take(m_free);
  auto& running = m_running[static_cast<std::size_t>(number)];
  running = {.what = transfer, .busy = true};
  if (faults) running.fault = reading ? faults->before_read() : faults->before_write();
  auto& direction = traffic(transfer.direction);
  if (direction.running++ == 0) direction.since = SteadyClock::now();
  if (m_gave_up) {
    running.error = ETIMEDOUT;
    return end_transfer(number);
  }
  direction.waiting.push(number);
  begin_pieces();
}

void SpillFile::begin_pieces() noexcept {
  while (!m_gave_up && !m_free_pieces.empty()) {
    int const transfer = next_transfer();
    if (transfer < 0) return;
    begin_piece(transfer);
  }
}

// Returns the index of the transfer that begins its next piece now, or -1 if none waits.
int SpillFile::next_transfer() noexcept {
  for (auto const direction : {m_turn, other(m_turn)}) {
    if (traffic(direction).waiting.empty()) continue;
    m_turn = other(direction);
    return traffic(direction).waiting.front();
  }
  return -1;
}

// Returns the size of the piece that begins so many bytes behind the beginning of a transfer.
std::size_t SpillFile::piece_bytes(SpillTransfer const& what, std::size_t begun) const {
  constexpr std::size_t most = kSpillPieceBytes;
  auto const stripe =
      m_storage.stripes().place(what.offset_bytes + static_cast<std::int64_t>(begun));
  return std::min(
      {what.memory.size() - begun, most - begun % most, static_cast<std::size_t>(stripe.bytes)});
}

void SpillFile::begin_piece(int transfer) noexcept {
  auto& running = m_running[static_cast<std::size_t>(transfer)];
  auto const& what = running.what;
  auto const begun = running.begun_bytes;
  auto const offset = what.offset_bytes + static_cast<std::int64_t>(begun);
  auto const bytes = piece_bytes(what, begun);
  auto const number = take(m_free_pieces);
  auto& piece = m_pieces[static_cast<std::size_t>(number)];
  piece = {
      .transfer = transfer, .memory = what.memory.subspan(begun, bytes), .offset_bytes = offset};
  ++running.pieces;
  running.begun_bytes += bytes;
  if (running.begun_bytes == what.memory.size()) traffic(what.direction).waiting.pop();
  if (what.direction == Direction::write) {
    if (m_settings.checksums) checksum_of(piece) = checksum(piece.memory);
    piece.place_offset_bytes = place_to_write(offset);
  } else {
    piece.place_offset_bytes = m_spares.place(offset);
  }
  if (running.fault == Fault::error && begun == 0) {
    m_spares.move_at_next_write(offset);
    return end_piece(number, EIO, false);
  }
  submit(number);
}

// Submits the bytes that a piece still has to move. If they can go by direct I/O, the whole pages
// come first, and the rest follows.
void SpillFile::submit(int number) noexcept {
  auto& piece = m_pieces[static_cast<std::size_t>(number)];
  auto rest = piece.memory.subspan(piece.moved_bytes);
  auto const place = m_storage.place(piece.place_offset_bytes);
  auto const whole = rest.size() / SpillStorage::kPageBytes * SpillStorage::kPageBytes;
  bool const on_page =
      reinterpret_cast<std::uintptr_t>(rest.data()) % SpillStorage::kPageBytes == 0;
  bool const direct = place.direct >= 0 && on_page && whole > 0;
  if (direct) rest = rest.first(whole);
  piece.asked_bytes = rest.size();
  if (m_queue->in_flight() == 0) m_silence.restart();
  m_queue->submit({running(piece).what.direction, direct ? place.direct : place.file, rest,
                   place.offset_bytes + static_cast<std::int64_t>(piece.moved_bytes),
                   static_cast<std::uint64_t>(number)});
}

// Handles the end of a piece's request. `error` is an errno, or 0 if all bytes were moved.
void SpillFile::advance(int number, int error) noexcept {
  auto& piece = m_pieces[static_cast<std::size_t>(number)];
  if (error == 0) piece.moved_bytes += piece.asked_bytes;
  if (error == 0 && piece.moved_bytes < piece.memory.size()) return submit(number);
  bool const corrupt = error == 0 && !is_sound(piece);
  if ((error != 0 || corrupt) && try_again(piece)) return submit(number);
  end_piece(number, error, corrupt);
}

// Returns false if a piece was read whose checksum is wrong. A Fault::flip_bit takes effect here.
bool SpillFile::is_sound(Piece const& piece) noexcept {
  auto const& owner = running(piece);
  bool const flip = owner.fault == Fault::flip_bit && piece.offset_bytes == owner.what.offset_bytes;
  if (owner.what.direction == Direction::write) {
    std::byte const wrong[] = {piece.memory[0] ^ std::byte{1}};
    auto const place = m_storage.place(piece.place_offset_bytes);
    if (flip) write_fully(place.file, wrong, place.offset_bytes);
    return true;
  }
  if (flip) piece.memory[0] ^= std::byte{1};
  return !m_settings.checksums || checksum(piece.memory) == checksum_of(piece);
}

// Returns whether a piece that failed must be submitted again. If so, updates its place and tries.
bool SpillFile::try_again(Piece& piece) noexcept {
  piece.moved_bytes = 0;
  if (piece.tries++ == 0) return true;
  bool const can_move = m_spares.move_at_next_write(piece.offset_bytes);
  if (!can_move || running(piece).what.direction == Direction::read) return false;
  piece.place_offset_bytes = place_to_write(piece.offset_bytes);
  piece.tries = 0;
  return true;
}

std::int64_t SpillFile::place_to_write(std::int64_t offset_bytes) noexcept {
  auto const place = m_spares.place_to_write(offset_bytes);
  m_moved_pieces = m_spares.moved();
  return place;
}

void SpillFile::end_piece(int number, int error, bool corrupt) noexcept {
  auto const& piece = m_pieces[static_cast<std::size_t>(number)];
  auto const transfer = piece.transfer;
  auto& owner = running(piece);
  auto const size = owner.what.memory.size();
  auto& direction = traffic(owner.what.direction);
  m_free_pieces.push_back(number);
  --owner.pieces;
  if (error == 0 && !corrupt) {
    direction.bytes += static_cast<std::int64_t>(piece.memory.size());
  } else if (owner.begun_bytes < size) {
    // A failed transfer begins no more pieces; if some have not begun, it is first in `waiting`.
    owner.begun_bytes = size;
    direction.waiting.pop();
  }
  bool const is_first = error != 0 || (corrupt && !owner.corrupt);
  if (owner.error == 0 && is_first)
    owner.failed_drive = m_storage.place(piece.place_offset_bytes).drive;
  if (owner.error == 0) owner.error = error;
  owner.corrupt = owner.corrupt || corrupt;
  if (owner.pieces == 0 && owner.begun_bytes == size) end_transfer(transfer);
}

void SpillFile::end_transfer(int transfer) noexcept {
  auto& running = m_running[static_cast<std::size_t>(transfer)];
  auto& direction = traffic(running.what.direction);
  running.busy = false;
  if (--direction.running == 0)
    direction.ns += std::chrono::nanoseconds(SteadyClock::now() - direction.since).count();
  auto const& what = running.what;
  if (running.error != 0 || running.corrupt)
    m_failure.note({what.direction, -1, what.memory, what.offset_bytes, what.tag}, running.error,
                   running.failed_drive);
  m_done.push(transfer);
}

std::optional<SpillDone> SpillFile::wait(double timeout_s) noexcept {
  auto const begun = SteadyClock::now();
  while (m_done.empty()) {
    if (m_gave_up || m_queue->in_flight() == 0) return {};
    auto const left_s =
        std::min(timeout_s - seconds_since(begun), longest_look_s(m_settings.patience_s));
    if (auto const done = m_queue->wait(std::max(left_s, 0.0))) {
      m_silence.restart();
      advance(static_cast<int>(done->tag), done->error);
      begin_pieces();
      continue;
    }
    m_silence.look();
    if (m_silence.seconds() < m_settings.patience_s) return {};
    give_up();
  }
  int const number = m_done.pop();
  m_free.push_back(number);
  auto const& running = m_running[static_cast<std::size_t>(number)];
  auto const wrong = running.corrupt ? IoResult::corrupt : IoResult::ok;
  return SpillDone{running.what.tag, running.error != 0 ? IoResult::error : wrong};
}

// Returns how many seconds a single wait may last: a fraction of the patience. If the process is
// stopped during a wait, no more than this counts as waited.
double SpillFile::longest_look_s(double patience_s) {
  return std::min(1.0, patience_s / 8);
}

// Names drives only if there are several, of which one may be silent.
std::string SpillFile::outstanding() const {
  return m_queue->outstanding([&](int file) {
    bool const several = m_storage.directories().all.size() > 1;
    return several ? " in " + m_storage.directory_of(file) : "";
  });
}

// Fails all transfers for good, since nobody knows whether storage will still move their bytes.
void SpillFile::give_up() noexcept {
  m_gave_up = true;
  {
    AllocatorPass const pass;
    m_failure.note_silence(m_settings.patience_s, outstanding());
  }
  for (auto& direction : m_traffic)
    while (!direction.waiting.empty()) direction.waiting.pop();
  for (std::size_t i = 0; i < m_running.size(); ++i) {
    if (!m_running[i].busy) continue;
    m_running[i].error = ETIMEDOUT;
    end_transfer(static_cast<int>(i));
  }
}

IoResult SpillFile::transfer(SpillTransfer const& transfer) noexcept {
  check(under_way() == 0, kSpillFile, "waits for one transfer while others are under way");
  begin(transfer);
  std::optional<SpillDone> done;
  while (!done) done = wait(kForever_s);  // a `wake` may end `wait` too early
  return done->result;
}

IoResult SpillFile::read(std::int64_t offset_bytes, std::span<std::byte> to) noexcept {
  return transfer({Direction::read, to, offset_bytes, 0});
}

IoResult SpillFile::write(std::int64_t offset_bytes, std::span<std::byte const> from) noexcept {
  // A SpillTransfer has one kind of span for both directions; a write only reads these bytes.
  std::span const bytes(const_cast<std::byte*>(from.data()), from.size());
  return transfer({Direction::write, bytes, offset_bytes, 0});
}

SpillCounters SpillFile::counters() const {
  auto const& [read, written] = m_traffic;
  auto const seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  return {written.bytes, read.bytes, seconds(written.ns), seconds(read.ns), m_moved_pieces};
}

}  // namespace spillway
