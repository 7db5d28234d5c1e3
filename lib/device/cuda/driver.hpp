// A CudaDriver has functions of the CUDA driver that the CUDA runtime does not offer. The functions
// are looked up by name, so that nothing has to link to the driver's library.
#pragma once

#include <cuda.h>

namespace spillway {

struct CudaDriver {
  decltype(&::cuMemGetAllocationGranularity) get_granularity = nullptr;
  decltype(&::cuMemAddressReserve) reserve_addresses = nullptr;
  decltype(&::cuMemAddressFree) free_addresses = nullptr;
  decltype(&::cuMemCreate) create_memory = nullptr;
  decltype(&::cuMemRelease) release_memory = nullptr;
  decltype(&::cuMemMap) map_memory = nullptr;
  decltype(&::cuMemUnmap) unmap_memory = nullptr;
  decltype(&::cuMemSetAccess) set_access = nullptr;
  decltype(&::cuGetErrorName) get_error_name = nullptr;
};

class CudaCalls;

// Looks up all functions of a CudaDriver. Throws Error(device) if the driver lacks one of them.
CudaDriver load_cuda_driver(CudaCalls const& calls);

}  // namespace spillway
