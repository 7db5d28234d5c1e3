// The backend of CUDA devices is a module, which is installed beside the program.
#include <filesystem>

#include "app/device_backend.hpp"

namespace spillway {
namespace {

// SPILLWAY_CUDA_MODULE is the module's path relative to the folder of the program's file.
FoundBackend open_cuda_module() {
  std::error_code failed;
  auto const program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return {nullptr, "/proc/self/exe cannot be read: " + failed.message()};
  auto const module = program.parent_path() / SPILLWAY_CUDA_MODULE;
  return open_device_module(module.lexically_normal(), &kCudaDriver);
}

}  // namespace

FoundBackend const& device_backend() {
  static FoundBackend const found = open_cuda_module();
  return found;
}

}  // namespace spillway
