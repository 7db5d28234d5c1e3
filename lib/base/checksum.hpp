// XXH3-64 checksums protect spilled extents and tensors of checkpoints. They are not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace spillway {

// Returns the checksum of the bytes, and does not allocate.
std::uint64_t checksum(std::span<std::byte const> bytes) noexcept;

std::string checksum_text(std::uint64_t checksum);  // gives 16 hexadecimal digits

// Computes what checksum() would return for bytes that come piece by piece. Only the constructor
// allocates.
class StreamingChecksum {
 public:
  StreamingChecksum();
  StreamingChecksum(StreamingChecksum&&) noexcept;
  StreamingChecksum& operator=(StreamingChecksum&&) noexcept;
  ~StreamingChecksum();

  void restart();
  void add(std::span<std::byte const> bytes);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace spillway
