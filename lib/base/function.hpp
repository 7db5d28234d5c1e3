// Defines SPILLWAY_FUNCTION, which marks small functions that host and device code share. No header
// of Kokkos is needed for it.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define SPILLWAY_FUNCTION __host__ __device__ inline
#else
#define SPILLWAY_FUNCTION inline
#endif
