// Makes storage fail on purpose, for tests and `debug.fault`.
#pragma once

#include <atomic>
#include <cstdint>

namespace spillway {

enum class Fault : std::uint8_t {
  none,
  error,     // the first piece of the transfer fails with EIO however often it is tried
  flip_bit,  // the first bit of the range comes out wrong every time, or is stored wrong
};

// Asked once per transfer, on the I/O thread.
class FaultInjector {
 public:
  virtual ~FaultInjector() = default;
  virtual Fault before_read() noexcept = 0;
  virtual Fault before_write() noexcept = 0;
};

// `fault` hits the nth read and the nth write, counted from 1; 0: never.
class FaultOnNth final : public FaultInjector {
 public:
  FaultOnNth(Fault fault, std::int64_t nth_read, std::int64_t nth_write)
      : m_fault(fault), m_nth_read(nth_read), m_nth_write(nth_write) {}

  Fault before_read() noexcept override { return ++m_reads == m_nth_read ? m_fault : Fault::none; }
  Fault before_write() noexcept override {
    return ++m_writes == m_nth_write ? m_fault : Fault::none;
  }

 private:
  Fault m_fault;
  std::int64_t m_nth_read, m_nth_write;
  std::atomic<std::int64_t> m_reads = 0, m_writes = 0;
};

}  // namespace spillway
