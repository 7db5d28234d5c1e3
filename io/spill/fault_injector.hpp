// Makes storage fail on purpose, for tests and `debug.fault`.
#pragma once

#include <atomic>
#include <cstdint>

namespace spillway {

enum class Fault : std::uint8_t {
  none,
  error,     // the first piece of the transfer fails with EIO and is not tried
  flip_bit,  // a bit of the transfer's first byte is read wrong in every try, or is stored wrong
};

// A FaultInjector is asked once for each transfer, on the thread that begins it.
class FaultInjector {
 public:
  virtual ~FaultInjector() = default;
  virtual Fault before_read() noexcept = 0;
  virtual Fault before_write() noexcept = 0;
};

// `fault` hits the nth read and the nth write, counted from 1, and also all later ones if
// `and_all_later` is true. If nth_read is 0, no read is hit; if nth_write is 0, no write is.
class FaultOnNth final : public FaultInjector {
 public:
  FaultOnNth(Fault fault, std::int64_t nth_read, std::int64_t nth_write, bool and_all_later = false)
      : m_fault(fault),
        m_nth_read(nth_read),
        m_nth_write(nth_write),
        m_and_all_later(and_all_later) {}

  Fault before_read() noexcept override { return fault(++m_reads, m_nth_read); }
  Fault before_write() noexcept override { return fault(++m_writes, m_nth_write); }

 private:
  Fault fault(std::int64_t count, std::int64_t nth) const {
    bool const later = m_and_all_later && nth > 0 && count > nth;
    return count == nth || later ? m_fault : Fault::none;
  }

  Fault m_fault;
  std::int64_t m_nth_read, m_nth_write;
  bool m_and_all_later;
  std::atomic<std::int64_t> m_reads = 0, m_writes = 0;
};

}  // namespace spillway
