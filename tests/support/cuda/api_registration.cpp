// Implements the functions that nvcc's code calls to register kernels and variables. Headers do not
// declare all of them.
#include <cuda_runtime_api.h>

#include "tests/support/cuda/call.hpp"

namespace cuda = spillway::test::cuda;
using cuda::FatBinary;
using spillway::AllocatorPass;

namespace {

// Registration happens while libraries are loaded, and cannot fail.
template <class Body>
auto registering(Body const& body) {
  AllocatorPass const pass;
  auto& all = cuda::state();
  std::scoped_lock const lock(all.mutex);
  return body(all);
}

FatBinary* binary_of(void** handle) {
  return reinterpret_cast<FatBinary*>(handle);
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  return registering(
      [&](cuda::State& all) { return reinterpret_cast<void**>(all.code.add(wrapper)); });
}

void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

// Ends all work first, because it may still need the code.
void __cudaUnregisterFatBinary(void** handle) {
  registering([&](cuda::State& all) {
    cuda::Scheduler::Demand drained{.met = [&] { return all.queues.idle(); }};
    all.scheduler.serve(drained);
    all.code.remove(binary_of(handle));
  });
}

char __cudaInitModule(void** /*handle*/) {
  return 1;
}

void __cudaRegisterFunction(void** handle, char const* host, char* /*device_function*/,
                            char const* name, int /*thread_limit*/, uint3* /*thread*/,
                            uint3* /*block*/, dim3* /*block_size*/, dim3* /*grid_size*/,
                            int* /*warp_size*/) {
  registering([&](cuda::State& all) {
    all.code.add_function(host, {.binary = binary_of(handle), .name = name});
  });
}

void __cudaRegisterVar(void** handle, char* host, char* /*address*/, char const* name,
                       int /*is_external*/, std::size_t bytes, int /*is_constant*/,
                       int /*is_global*/) {
  registering([&](cuda::State& all) {
    all.code.add_variable(host, {binary_of(handle), name, bytes});
  });
}

}  // extern "C"
