// XXH3-64 checksums let readers find damage in what is stored, such as the spill file or a
// checkpoint. They are not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace spillway {

// Computes the XXH3-64 checksum without allocating memory.
std::uint64_t checksum(std::span<std::byte const> bytes) noexcept;

std::string checksum_text(std::uint64_t checksum);  // gives 16 hexadecimal digits

// Computes the checksum of bytes that come in several calls of add(): value() returns what
// checksum() returns for all of them together. Only the constructor allocates memory.
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
