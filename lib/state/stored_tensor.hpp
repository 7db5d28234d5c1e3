// It shows a persistent tensor of a run, wherever it lies, as bytes that can be looked at and
// changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/pages.hpp"
#include "runtime/tiers.hpp"

namespace spillway {

// Ranges of elements that are asked for must not cross a multiple of this: what lies in the spill
// file is brought to memory in windows of so many elements.
inline constexpr std::int64_t kWindowElements = std::int64_t{1} << 20;

// One thread at a time may use it, only between steps of finished Engines.
class StoredTensor {
 public:
  StoredTensor() = default;  // of no tensor
  // If `is_there`, it holds values of steps before; else what is not written before `complete`
  // becomes zero.
  StoredTensor(Tiers const& tiers, Buffer const& buffer, DType dtype, bool is_there = false);

  bool exists() const { return m_dtype.has_value(); }
  DType dtype() const { return *m_dtype; }

  // Returns the address of element `first`, valid until another window is asked for. If `changes`,
  // what is written there is kept. Throws Error(storage).
  std::byte* at(std::int64_t first, bool changes);

  // Both throw Error(storage). `flush` writes back what was changed and gives the window's memory
  // free: what steps change from then on is seen. `complete` makes zero what was never written, in
  // the spill file too.
  void flush();
  void complete();

 private:
  struct Window {
    std::int64_t number = -1;
    bool changed = false;
    Pages bytes;
  };
  void open(std::int64_t number);

  std::optional<DType> m_dtype;
  std::byte* m_memory = nullptr;  // null where it lies in the spill file
  SpillFile* m_spill = nullptr;
  std::int64_t m_offset_bytes = 0, m_bytes = 0;
  std::vector<bool> m_written;  // for each window
  Window m_window;
};

}  // namespace spillway
