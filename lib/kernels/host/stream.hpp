// Non-temporal stores write rows past the caches, which is twice as fast for rows that are too
// large for the caches, or that are not read before the caches would have dropped them.
#pragma once

#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace spillway {

inline void stream_row(float const* from, float* to, std::int64_t n) {
  std::int64_t i = 0;
#ifdef __SSE2__
  auto const begins_a_line = [to](std::int64_t at) {
    return reinterpret_cast<std::uintptr_t>(to + at) % 64 == 0;
  };
  for (; i < n && !begins_a_line(i); ++i) to[i] = from[i];
  for (; i + 4 <= n; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
#endif
  for (; i < n; ++i) to[i] = from[i];
}

// Other threads may read what a thread has streamed only after that thread has called
// finish_streams.
inline void finish_streams() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace spillway
