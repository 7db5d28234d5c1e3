// XXH3-64 checksums of spilled extents and checkpoint tensors. Not meant against an adversary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace spillway {

// Does not allocate.
std::uint64_t checksum(std::span<std::byte const> bytes) noexcept;

std::string checksum_text(std::uint64_t checksum);  // 16 hexadecimal digits

// The same value for bytes that come piece by piece. Allocates once, when made.
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
