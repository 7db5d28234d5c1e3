// A SpillFile is one rank's spill space: a file without a name, or one on each of several drives.
// It is gone when the process ends, however it dies.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/steady_clock.hpp"
#include "base/waited_time.hpp"
#include "io/ring/backends.hpp"
#include "io/ring/bounded_queue.hpp"
#include "io/spill/directories.hpp"
#include "io/spill/fault_injector.hpp"
#include "io/spill/first_failure.hpp"
#include "io/spill/spare_places.hpp"
#include "io/spill/spill_storage.hpp"
#include "io/spill/stripes.hpp"

namespace spillway {

// A transferred range is cut into pieces of kSpillPieceBytes, counted from its beginning; the last
// may be shorter. Pieces are cut once more where stripes end, so that each lies on one drive. They
// are checked, and moved to spare places if storage fails, as a whole.
inline constexpr std::int64_t kSpillPieceBytes = std::int64_t{1} << 20;

enum class IoResult : std::uint8_t {
  ok,
  error,    // the system call failed, or the file is shorter than it should be
  corrupt,  // the bytes read are not the bytes written
};

struct SpillTransfer {
  Direction direction = Direction::read;
  std::span<std::byte> memory;    // not empty; the caller must not use it during the transfer
  std::int64_t offset_bytes = 0;  // a multiple of kSpillAlignment
  std::uint64_t tag = 0;          // chosen by the caller, returned in SpillDone
};

struct SpillDone {
  std::uint64_t tag = 0;
  IoResult result = IoResult::ok;
};

// SpillCounters count since the SpillFile was made. write_s and read_s are the seconds in which at
// least one write or one read was under way.
struct SpillCounters {
  std::int64_t written_bytes = 0, read_bytes = 0;
  double write_s = 0, read_s = 0;
  std::int64_t moved_pieces = 0;  // how often pieces moved to spare places
};

struct SpillSettings {
  bool checksums = true;
  QueueSettings queue = {};
  int transfers = 64;       // how many transfers may be under way at a time
  double patience_s = 120;  // storage that does not answer for this long has failed for good
  std::int64_t spare_bytes = std::int64_t{16} << 20;  // for spare places, in whole pieces
  FaultInjector* faults = nullptr;                    // may be null; must outlive the SpillFile
};

// Transfers are asynchronous. Pieces of several transfers are under way together, and reads and
// writes take turns. If storage allows it, whole pages of memory that begins at a page go by direct
// I/O, past the page cache.
//
// A range that was written whole can be read in several transfers. Each must begin at a multiple of
// kSpillPieceBytes from the range's beginning and end at another one or at the range's end, because
// only checksums of whole pieces are known.
//
// A piece that cannot be moved, or is not read back as it was written, is tried once more at once.
// If a write fails again, the piece moves to a spare place and is tried there; without a spare
// place the transfer has failed. If a read fails again, the transfer has failed, and the piece
// moves when it is next written.
//
// Only one thread at a time may use a SpillFile, except for `wake`, `forget_failure` and const
// functions. Only the constructor, `register_memory` and `first_failure` allocate, and `wait` does
// so when it finds that storage does not answer.
class SpillFile {
 public:
  // Reserves storage for size_bytes and the spare places at once. Throws what SpillStorage throws,
  // and Error(bad_input) if the chosen backend cannot be used.
  SpillFile(Directories const& directories, std::int64_t size_bytes, SpillSettings const& settings);
  SpillFile(Directories const& directories, std::int64_t size_bytes, SpillSettings const& settings,
            MadeQueue made);

  // Begins a transfer and never blocks. `full()` must be false, and the range must lie in the file.
  void begin(SpillTransfer const& transfer) noexcept;
  bool full() const { return m_free.empty(); }
  int under_way() const;  // counts transfers begun and not yet returned by `wait`

  // Sleeps until a transfer is finished, and returns it; transfers finish in any order. Returns
  // nothing after `timeout_s`, if storage has not answered for a second or an eighth of the
  // patience, if `wake` was called, or if no transfer is under way.
  std::optional<SpillDone> wait(double timeout_s) noexcept;
  static constexpr double kForever_s = 1e9;  // a `timeout_s` that is longer than any wait
  // Ends a `wait` in progress, or else the next one that would sleep. Any thread may call it.
  void wake() noexcept { m_queue->wake(); }

  // Registers `memory`, whose spans are sorted by address, in place of what was registered before.
  // No transfer may be under way. If the system refuses, adds a line to advice() that says why and
  // returns false; transfers then work without registered memory.
  bool register_memory(std::span<std::span<std::byte> const> memory);

  // `read` and `write` block until their transfer is done. No other transfer may be under way.
  IoResult read(std::int64_t offset_bytes, std::span<std::byte> to) noexcept;
  IoResult write(std::int64_t offset_bytes, std::span<std::byte const> from) noexcept;

  // Returns one line about the first result that was not ok since the last `forget_failure`: what
  // failed, in which directory, where and why. Returns "" if there is none. Any thread may call
  // first_failure and forget_failure.
  std::string first_failure() const { return m_failure.text(); }
  void forget_failure() { m_failure.forget(); }

  // Returns lines that say what makes transfers slower than they could be, and what to change.
  std::vector<std::string> const& advice() const { return m_advice; }
  char const* backend() const { return m_queue->backend(); }
  bool checksums() const { return m_settings.checksums; }
  bool direct() const { return m_storage.direct(); }

  SpillCounters counters() const;
  std::int64_t size_bytes() const { return m_size_bytes; }

 private:
  struct Running {
    SpillTransfer what;
    std::size_t begun_bytes = 0;  // the bytes of pieces that have begun
    int pieces = 0;               // how many pieces are under way
    int error = 0;
    bool corrupt = false;
    std::optional<std::size_t> failed_drive = {};
    Fault fault = Fault::none;
    bool busy = false;
  };
  struct Piece {
    int transfer = -1;
    std::span<std::byte> memory;
    std::int64_t offset_bytes = 0;                 // the offset that the caller uses
    std::int64_t place_offset_bytes = 0;           // the offset where the piece lies now
    std::size_t moved_bytes = 0, asked_bytes = 0;  // bytes moved, and bytes in the queue
    int tries = 0;                                 // how many tries at this place have failed
  };
  struct Traffic {  // the transfers of one direction
    explicit Traffic(std::size_t most) : waiting(most) {}
    BoundedQueue<int> waiting;  // transfers with pieces that have not begun
    int running = 0;
    SteadyClock::time_point since;  // when `running` last rose from 0
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
  std::size_t piece_bytes(SpillTransfer const& what, std::size_t begun) const;
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
  std::string outstanding() const;
  static double longest_look_s(double patience_s);

  std::int64_t m_size_bytes;
  SpillSettings m_settings;
  SpillStorage m_storage;
  std::vector<std::string> m_advice;
  std::vector<Running> m_running;
  std::vector<int> m_free;      // unused indices of m_running
  BoundedQueue<int> m_done;     // indices of m_running that are finished and not yet returned
  std::vector<Piece> m_pieces;  // one for each operation of the queue
  std::vector<int> m_free_pieces;
  std::array<Traffic, 2> m_traffic;  // indexed by Direction
  Direction m_turn = Direction::read;
  std::vector<std::uint64_t> m_checksums;  // of written pieces, by offset_bytes / kSpillAlignment
  SparePlaces m_spares;
  std::atomic<std::int64_t> m_moved_pieces = 0;
  WaitedTime m_silence;    // how long the queue has not answered although something is in flight
  bool m_gave_up = false;  // true once storage has failed for good; requests may be in flight

  FirstFailure m_failure;
  std::unique_ptr<TransferQueue> m_queue;  // declared last, so that it is destroyed first
};

}  // namespace spillway
