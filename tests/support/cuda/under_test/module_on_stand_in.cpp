#include "tests/support/cuda/under_test/module_on_stand_in.hpp"

#include "tests/support/cuda/engine_order.hpp"
#include "tests/support/cuda/kernel.hpp"

namespace spillway::test::cuda {
namespace {

DeviceBackend const* g_module = nullptr;

KernelTable begin_kernels(Device const& device) {
  return cuda_checked_kernels(g_module->begin_kernels(device));
}

}  // namespace

FoundBackend open_module_on_stand_in(std::string const& path) {
  auto const found = open_device_module(path);
  g_module = found.backend;
  if (g_module == nullptr) return found;
  static DeviceBackend backend = *g_module;
  backend.begin_kernels = begin_kernels;
  backend.make_watch = make_engine_order;
  return {&backend, ""};
}

}  // namespace spillway::test::cuda
