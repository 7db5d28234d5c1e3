// Defines SPILLWAY_FUNCTION, which marks small functions that run on the host and on devices. No
// header of Kokkos is needed for that.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define SPILLWAY_FUNCTION __host__ __device__ inline
#else
#define SPILLWAY_FUNCTION inline
#endif
