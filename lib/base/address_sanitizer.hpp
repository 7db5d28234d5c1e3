// Tells AddressSanitizer which bytes of an arena may be accessed. In builds without
// AddressSanitizer, the functions do nothing.
#pragma once

#include <cstddef>
#include <span>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace spillway {

// After forbid_access, AddressSanitizer reports any access to `bytes` as an error, until
// allow_access is called for them.
inline void forbid_access([[maybe_unused]] std::span<std::byte const> bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(bytes.data(), bytes.size());
#endif
}
inline void allow_access([[maybe_unused]] std::span<std::byte const> bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(bytes.data(), bytes.size());
#endif
}

}  // namespace spillway
