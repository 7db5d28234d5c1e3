// Marks small functions that host and device code share. It needs no header of Kokkos.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define SPILLWAY_FUNCTION __host__ __device__ inline
#else
#define SPILLWAY_FUNCTION inline
#endif
