// Registers PTX as nvcc's code does: a container around its text, kernels and variables.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
char __cudaInitModule(void** handle);
void __cudaRegisterFunction(void** handle, char const* host, char* device, char const* name,
                            int thread_limit, uint3* thread, uint3* block, dim3* block_size,
                            dim3* grid_size, int* warp_size);
void __cudaRegisterVar(void** handle, char* host, char* address, char const* name, int is_external,
                       std::size_t bytes, int is_constant, int is_global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream);
}

namespace spillway::test::cuda {

// One entry of a fat binary.
struct FatEntry {
  std::string content = {};
  std::uint16_t kind = 1;  // PTX; 2 is machine code
  std::uint32_t architecture = 80;
  std::uint64_t flags = 0;
  std::size_t plain_bytes = 0;  // 0: the content is not compressed
};

class HandMadeModule {
 public:
  explicit HandMadeModule(std::string_view text)
      : HandMadeModule({{.content = std::string(text)}}) {}
  explicit HandMadeModule(std::vector<FatEntry> const& entries);
  HandMadeModule(HandMadeModule const&) = delete;
  HandMadeModule& operator=(HandMadeModule const&) = delete;
  ~HandMadeModule() { __cudaUnregisterFatBinary(m_handle); }

  // The addresses by which the host names a kernel or a variable of the PTX.
  void const* kernel(std::string const& name);
  void const* variable(std::string const& name, std::size_t bytes);

 private:
  struct Wrapper {
    std::uint32_t magic = 0x466243b1, version = 1;
    void const* container = nullptr;
    void const* more = nullptr;
  };

  std::string m_container;
  Wrapper m_wrapper;
  void** m_handle = nullptr;
  std::map<std::string, char> m_names;
};

// Launches by cudaLaunchKernel, with one pointer an argument.
template <class... Arguments>
cudaError_t launch(void const* kernel, dim3 grid, dim3 block, cudaStream_t stream,
                   Arguments... arguments) {
  void* pointers[] = {&arguments...};
  return cudaLaunchKernel(kernel, grid, block, pointers, 0, stream);
}

// Kernels of fp32, one element a thread, 32 threads a block: they are named in comments of the
// text.
extern char const* const kPtx;

}  // namespace spillway::test::cuda
