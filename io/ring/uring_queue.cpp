#include <fmt/core.h>
#include <liburing.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>

#include "base/check.hpp"
#include "io/file/file.hpp"
#include "io/ring/backends.hpp"

namespace spillway {
namespace {

constexpr std::string_view kRing = "io_uring";

// The kernel allows at most this many bytes in one registered buffer.
constexpr std::size_t kLargestRegistered = std::size_t{1} << 30;

__kernel_timespec timespec_of(double seconds) {
  double const whole = std::floor(seconds);
  return {static_cast<long long>(whole), static_cast<long long>((seconds - whole) * 1e9)};
}

class UringQueue final : public TransferQueue {
 public:
  // `error` becomes the errno of the setup, or 0. If it is not 0, the object may only be destroyed.
  UringQueue(int depth, int& error) : TransferQueue(depth) {
    // There is one entry more than operations, for the read of m_event that `wake` ends.
    error = -io_uring_queue_init(static_cast<unsigned>(depth) + 1, &m_ring, 0);
    m_usable = error == 0;
    // Waiting with a timeout needs this feature (Linux 5.11).
    if (m_usable && !(m_ring.features & IORING_FEAT_EXT_ARG)) error = ENOSYS;
    if (error == 0 && !m_event) error = errno;
    if (error == 0) listen();
  }
  // The destructor waits, because the kernel may still write into memory that operations name.
  ~UringQueue() override {
    if (!m_usable) return;
    while (m_pending > 0 && reap(kWaitAtEndS)) {
    }
    stop_listening();
    io_uring_queue_exit(&m_ring);
  }

  char const* backend() const override { return m_registered.empty() ? "uring-plain" : "uring"; }

  int register_memory(std::span<std::span<std::byte> const> memory) override {
    check(in_flight() == 0, kRing, "registers memory while transfers are under way");
    stop_listening();  // before Linux 5.13, registering waits for all operations to end
    if (!m_registered.empty()) io_uring_unregister_buffers(&m_ring);
    m_registered = pieces_of(memory);
    int error = 0;
    if (!m_registered.empty()) {
      auto const count = static_cast<unsigned>(m_registered.size());
      error = -io_uring_register_buffers(&m_ring, m_registered.data(), count);
    }
    if (error != 0) m_registered.clear();
    listen();
    return error;
  }

  void wake() noexcept override {
    std::uint64_t const one = 1;
    [[maybe_unused]] auto const written = ::write(m_event.get(), &one, sizeof one);
  }

 private:
  static constexpr double kWaitAtEndS = 10;
  static constexpr std::uint64_t kWoken = ~std::uint64_t{0};  // no operation has this number

  static std::vector<iovec> pieces_of(std::span<std::span<std::byte> const> memory) {
    std::vector<iovec> pieces;
    for (auto rest : memory) {
      while (!rest.empty()) {
        auto const bytes = std::min(rest.size(), kLargestRegistered);
        pieces.push_back({rest.data(), bytes});
        rest = rest.subspan(bytes);
      }
    }
    return pieces;
  }

  // Returns the index of the registered buffer that holds all of `memory`, or -1 if none does.
  int piece_of(std::span<std::byte> memory) const {
    auto const after = std::ranges::upper_bound(m_registered, memory.data(), {}, begin_of);
    if (after == m_registered.begin()) return -1;
    auto const& piece = *std::prev(after);
    auto const end = static_cast<std::size_t>(memory.data() - begin_of(piece)) + memory.size();
    if (end > piece.iov_len) return -1;
    return static_cast<int>(std::prev(after) - m_registered.begin());
  }
  static std::byte* begin_of(iovec const& piece) { return static_cast<std::byte*>(piece.iov_base); }

  void start(int operation, TransferRequest const& rest) noexcept override {
    auto* const entry = io_uring_get_sqe(&m_ring);
    check(entry != nullptr, kRing, "has fewer entries than operations");
    auto const bytes = static_cast<unsigned>(std::min(rest.memory.size(), kLargestRegistered));
    auto const offset = static_cast<std::uint64_t>(rest.offset_bytes);
    auto* const memory = rest.memory.data();
    int const piece = piece_of(rest.memory.first(bytes));
    if (rest.direction == Direction::read) {
      piece < 0 ? io_uring_prep_read(entry, rest.file, memory, bytes, offset)
                : io_uring_prep_read_fixed(entry, rest.file, memory, bytes, offset, piece);
    } else {
      piece < 0 ? io_uring_prep_write(entry, rest.file, memory, bytes, offset)
                : io_uring_prep_write_fixed(entry, rest.file, memory, bytes, offset, piece);
    }
    entry->user_data = static_cast<std::uint64_t>(operation);
    ++m_pending;
    io_uring_submit(&m_ring);  // the next wait submits an entry that the kernel refuses now
  }

  void stop_listening() noexcept {
    if (m_listens) wake();
    while (m_listens && reap(kWaitAtEndS)) {
    }
  }

  // Begins the read of m_event that `wake` ends.
  void listen() noexcept {
    auto* const entry = io_uring_get_sqe(&m_ring);
    check(entry != nullptr, kRing, "has fewer entries than operations");
    io_uring_prep_read(entry, m_event.get(), &m_wakes, sizeof m_wakes, 0);
    entry->user_data = kWoken;
    m_listens = true;
    io_uring_submit(&m_ring);
  }

  std::optional<Outcome> next(double timeout_s) noexcept override {
    auto const outcome = reap(timeout_s);
    if (!m_listens) listen();
    if (!outcome || outcome->operation < 0) return {};
    return outcome;
  }

  // Returns the next completion of any kind, or nothing if none comes within `timeout_s`. If it is
  // that of the read of m_event, `operation` is -1.
  std::optional<Outcome> reap(double timeout_s) noexcept {
    io_uring_submit(&m_ring);
    io_uring_cqe* completion = nullptr;
    auto timeout = timespec_of(timeout_s);
    int result = 0;
    do result = io_uring_wait_cqe_timeout(&m_ring, &completion, &timeout);
    while (result == -EINTR);
    if (result != 0) return {};
    bool const woken = completion->user_data == kWoken;
    Outcome const outcome{woken ? -1 : static_cast<int>(completion->user_data), completion->res};
    io_uring_cqe_seen(&m_ring, completion);
    if (woken) {
      m_listens = false;
    } else {
      --m_pending;
    }
    return outcome;
  }

  FileDescriptor m_event = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
  std::uint64_t m_wakes = 0;  // the read of m_event writes its count here
  bool m_listens = false;     // whether the read of m_event is in flight
  io_uring m_ring = {};
  bool m_usable = false;
  int m_pending = 0;                // how many operations were submitted and have not completed
  std::vector<iovec> m_registered;  // sorted by address
};

}  // namespace

std::unique_ptr<TransferQueue> make_uring_queue(int depth, int& error) {
  auto queue = std::make_unique<UringQueue>(depth, error);
  if (error != 0) return nullptr;
  return queue;
}

}  // namespace spillway
