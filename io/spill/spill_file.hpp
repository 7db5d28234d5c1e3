// One rank's spill space: a file without a name, gone with the process however it dies.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/steady_clock.hpp"
#include "base/waited_time.hpp"
#include "io/ring/backends.hpp"
#include "io/ring/line.hpp"
#include "io/spill/fault_injector.hpp"
#include "io/spill/first_failure.hpp"
#include "io/spill/spare_places.hpp"
#include "io/spill/spill_storage.hpp"

namespace spillway {

// Every range begins at a multiple of this.
inline constexpr std::int64_t kSpillAlignment = std::int64_t{64} << 10;
// Ranges are cut into pieces of this, counted from their beginning: each is moved, checked and, if
// need be, put elsewhere as a whole.
inline constexpr std::int64_t kSpillPieceBytes = std::int64_t{1} << 20;

enum class IoResult : std::uint8_t {
  ok,
  error,    // the system call failed, or the file is shorter than it should be
  corrupt,  // the bytes read are not the bytes written
};

struct SpillTransfer {
  Direction direction = Direction::read;
  std::span<std::byte> memory;    // not empty; left alone by the caller until done
  std::int64_t offset_bytes = 0;  // a multiple of kSpillAlignment
  std::uint64_t tag = 0;          // the caller's own
};

struct SpillDone {
  std::uint64_t tag = 0;
  IoResult result = IoResult::ok;
};

// Counts since construction. Seconds are those in which at least one transfer of that direction was
// under way.
struct SpillCounters {
  std::int64_t written_bytes = 0, read_bytes = 0;
  double write_s = 0, read_s = 0;
  std::int64_t moved_pieces = 0;  // to spare places
};

struct SpillSettings {
  bool checksums = true;
  QueueSettings queue = {};
  int transfers = 64;       // that may be under way together
  double patience_s = 120;  // of waiting, before storage that does not answer has failed for good
  std::int64_t spare_bytes = std::int64_t{16} << 20;  // beyond the file's size; whole pieces
  FaultInjector* faults = nullptr;                    // outlives the file
};

// Transfers are asynchronous: pieces of several are under way together, those of reads and writes
// in turn. Where memory begins with a page, whole pages go by direct I/O, past the page cache.
//
// A range that was written whole can be read in parts, each from a multiple of kSpillPieceBytes of
// it to another one or to its end: a piece is checked against its last write.
//
// A piece that cannot be written, or not read back as it was written, is tried once more at once.
// If that fails a write, the piece lives in a spare place from then on; if it fails a read, the
// transfer has failed, and the piece moves when it is written next.
//
// One thread at a time, but for `wake` and what is const. Nothing but the constructor and
// `register_memory` allocates, except to tell of storage that does not answer.
class SpillFile {
 public:
  // Takes size_bytes and the spares of storage at once. Throws Error: cannot_fit when there is no
  // such space, bad_input when `directory` cannot be used or the backend asked for cannot be had.
  SpillFile(std::filesystem::path const& directory, std::int64_t size_bytes,
            SpillSettings const& settings);
  SpillFile(std::filesystem::path const& directory, std::int64_t size_bytes,
            SpillSettings const& settings, MadeQueue made);

  // Asynchronous, never blocks. Only while not full; the range must lie inside the file.
  void begin(SpillTransfer const& transfer) noexcept;
  bool full() const { return m_free.empty(); }
  int under_way() const;  // begun and not yet returned by `wait`

  // Moves transfers on and returns a finished one, in any order. Sleeps until there is one; nothing
  // after `timeout_s` or a second, when `wake` was called, or when none is under way.
  std::optional<SpillDone> wait(double timeout_s) noexcept;
  static constexpr double kForever_s = 1e9;  // as a time-out: as long as one call may last
  // From any thread: ends a `wait` in progress, or else the next one that would sleep.
  void wake() noexcept { m_queue->wake(); }

  // Registers `memory`, in rising order, with the queue in place of what was registered before.
  // Only while no transfer is under way. Returns false if that is refused, and advice() then ends
  // with the reason; transfers go on in any case.
  bool register_memory(std::span<std::span<std::byte> const> memory);

  // Synchronous; only while no transfer is under way.
  IoResult read(std::int64_t offset_bytes, std::span<std::byte> to) noexcept;
  IoResult write(std::int64_t offset_bytes, std::span<std::byte const> from) noexcept;

  // One line about the first result that was not ok since the last `forget_failure`: what, where,
  // why; or empty. By any thread, as is `forget_failure`.
  std::string first_failure() const;
  void forget_failure() { m_failure.forget(); }

  // What is slower here than it could be, a line each: what is missing, what to change.
  std::vector<std::string> const& advice() const { return m_advice; }
  char const* backend() const { return m_queue->backend(); }
  bool checksums() const { return m_settings.checksums; }
  bool direct() const { return m_storage.direct() >= 0; }

  SpillCounters counters() const;
  std::int64_t size_bytes() const { return m_size_bytes; }

 private:
  struct Running {
    SpillTransfer what;
    std::size_t begun_bytes = 0;  // of its pieces
    int pieces = 0;               // under way
    int error = 0;
    bool corrupt = false;
    Fault fault = Fault::none;
    bool busy = false;
  };
  struct Piece {
    int transfer = -1;
    std::span<std::byte> memory;
    std::int64_t offset_bytes = 0;                 // by the caller's count
    std::int64_t place_bytes = 0;                  // where it lies
    std::size_t moved_bytes = 0, asked_bytes = 0;  // asked: of the queue, now
    int tries = 0;                                 // that failed at this place
  };
  struct Traffic {  // of one direction
    explicit Traffic(std::size_t most) : waiting(most) {}
    Line<int> waiting;  // transfers with pieces to begin
    int running = 0;
    SteadyClock::time_point since;  // of running > 0
    std::atomic<std::int64_t> bytes = 0, ns = 0;
  };

  Traffic& traffic(Direction direction) { return m_traffic[static_cast<std::size_t>(direction)]; }
  Running& running(Piece const& piece) {
    return m_running[static_cast<std::size_t>(piece.transfer)];
  }
  std::uint64_t& checksum_of(Piece const& piece) {
    return m_checksums[static_cast<std::size_t>(piece.offset_bytes / kSpillAlignment)];
  }
  void begin_pieces() noexcept;
  int next_transfer() noexcept;
  void begin_piece(int transfer) noexcept;
  void submit(int piece) noexcept;
  void advance(int piece, int error) noexcept;
  bool is_sound(Piece const& piece) noexcept;
  bool try_again(Piece& piece) noexcept;
  std::int64_t place_to_write(std::int64_t offset_bytes) noexcept;
  void end_piece(int piece, int error, bool corrupt) noexcept;
  void end_transfer(int transfer) noexcept;
  void give_up() noexcept;
  IoResult transfer(SpillTransfer const& transfer) noexcept;
  static double longest_look_s(double patience_s);

  std::filesystem::path m_directory;  // for messages: the file itself has no name
  std::int64_t m_size_bytes;
  SpillSettings m_settings;
  SpillStorage m_storage;
  std::vector<std::string> m_advice;
  std::vector<Running> m_running;
  std::vector<int> m_free;      // of m_running
  Line<int> m_done;             // of m_running, and not yet returned
  std::vector<Piece> m_pieces;  // as many as the queue is deep
  std::vector<int> m_free_pieces;
  std::array<Traffic, 2> m_traffic;  // by Direction
  Direction m_turn = Direction::read;
  std::vector<std::uint64_t> m_checksums;  // by offset / kSpillAlignment, of the last write there
  SparePlaces m_spares;
  std::atomic<std::int64_t> m_moved_pieces = 0;
  WaitedTime m_silence;  // of the queue, with something in it
  bool m_dead = false;   // some piece may still be under way

  FirstFailure m_failure;
  std::unique_ptr<TransferQueue> m_queue;  // last: its end stops those that use the rest
};

}  // namespace spillway
