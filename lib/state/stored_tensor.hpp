// A StoredTensor gives access to the bytes of parameters or other state of a run, on any tier.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/pages.hpp"
#include "runtime/tiers.hpp"

namespace spillway {

// A window has this many elements. A tensor that the host cannot reach is read one window at a
// time, so a range of elements that is used at a time must not cross a multiple of this number.
inline constexpr std::int64_t kWindowElements = std::int64_t{1} << 20;

// Divides the elements [begin, begin + count) at multiples of kWindowElements, and calls
// body(at, size) for each part, which begins at element begin + at.
template <class Body>
void in_windows(std::int64_t begin, std::int64_t count, Body const& body) {
  for (std::int64_t at = 0; at < count;) {
    auto const left = kWindowElements - (begin + at) % kWindowElements;
    auto const size = std::min(left, count - at);
    body(at, size);
    at += size;
  }
}

// Only one thread at a time may use a StoredTensor, and only while no Engine runs.
class StoredTensor {
 public:
  StoredTensor() = default;  // this makes an object without a tensor
  // `is_there` means that the tensor already has values, for example from earlier steps. If it is
  // false, `complete` sets elements to zero that were not written before.
  StoredTensor(Tiers const& tiers, Buffer const& buffer, DType dtype, bool is_there = false);

  bool exists() const { return m_dtype.has_value(); }
  DType dtype() const { return *m_dtype; }

  // Returns the address of element `first`, which is valid until another window is asked for.
  // Changes to the bytes are kept only if `changes` is true. Throws Error(storage).
  std::byte* at(std::int64_t first, bool changes);

  // `flush` writes changes back and frees the window's memory, so that later reads see what steps
  // have changed. `complete` sets all elements to zero that were never written. Both functions
  // throw Error(storage).
  void flush();
  void complete();

 private:
  struct Window {
    std::int64_t number = -1;
    bool changed = false;
    Pages bytes;
  };
  void open(std::int64_t number);
  void read(std::int64_t first_byte, HostBytes to);
  void write(std::int64_t first_byte, HostBytes from);

  std::optional<DType> m_dtype;
  Tiers const* m_tiers = nullptr;
  std::byte* m_memory = nullptr;  // null if the host cannot reach the tensor where it lies
  DeviceBytes m_on_device;        // empty if the tensor lies elsewhere
  std::int64_t m_offset_bytes = 0, m_bytes = 0;
  std::vector<bool> m_written;  // says for each window whether it was written
  Window m_window;
};

}  // namespace spillway
