// Defines the module's one exported function, and what in it stands for functions of the program.
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include "base/allocator_pass.hpp"
#include "base/log.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/cuda/kernels.hpp"
#include "run/device_module.hpp"
#include "run/module_build.hpp"

namespace spillway {
namespace {

ProgramServices g_program;

std::string why_none() {
  int count = 0;
  auto const result = cudaGetDeviceCount(&count);
  cudaGetLastError();
  return fmt::format(
      "CUDA says: {}. Is there one, with its driver, and does CUDA_VISIBLE_DEVICES "
      "name it?",
      cudaGetErrorString(result));
}

DeviceBackend const* connect(ProgramServices const& program) {
  g_program = program;
  g_lock_of_thread = program.lock_of_thread;
  static DeviceBackend const backend{
      .name = "cuda",
      .count = cuda_device_count,
      .why_none = why_none,
      .why_not = [](int number) { return why_no_code(number, SPILLWAY_ARCHITECTURES); },
      .open = open_cuda_device,
      .begin_kernels = [](Device const&) { return cuda::begin_kernels(); },
      .end_kernels = cuda::end_kernels,
  };
  return &backend;
}

}  // namespace

// The program's log writes what the module says (base/log.hpp).
void write_log(LogLevel level, std::string_view line) {
  g_program.write_log(level, line);
}

}  // namespace spillway

extern "C" [[gnu::visibility("default")]] spillway::DeviceModule spillway_device_module() {
  static auto const build = spillway::module_build();
  return {build.c_str(), spillway::connect};
}
