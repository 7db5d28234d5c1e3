// Gives the program spillway_on_stand_in its devices, which compute with the host's kernels.
#include "app/device_backend.hpp"
#include "device/cuda/cuda_device.hpp"
#include "tests/support/cuda/engine_order.hpp"
#include "tests/support/cuda/program/choice.hpp"
#include "tests/support/cuda/program/judge.hpp"

namespace spillway {
namespace {

using namespace test;

int count() noexcept {
  cuda::begin_judged();
  return cuda_device_count();
}

}  // namespace

FoundBackend const& device_backend() {
  static DeviceBackend const on_stand_in{
      .name = "cuda",
      .count = count,
      .why_none = [] { return std::string("SPILLWAY_STAND_IN_DEVICES is 0"); },
      .why_not = [](int number) { return why_no_code(number, "80"); },
      .open = open_cuda_device,
      .begin_kernels = [](Device const&) { return cuda::choosing_kernels(); },
      .end_kernels = []() noexcept {},
      .target = kHostTarget,
      .make_watch = cuda::make_engine_order,
  };
  static FoundBackend const found{&on_stand_in, "", true};
  return found;
}

}  // namespace spillway
