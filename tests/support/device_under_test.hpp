// DeviceUnderTest is the device on which tests run a Program.
#pragma once

#include <memory>

#include "graph/graph.hpp"
#include "runtime/compute.hpp"

namespace spillway::test {

// Returns whether kernels of a device compute, not the host's. Then all Programs run on the device,
// and none is for unified memory.
bool device_has_own_kernels();
// Sets what the Arithmetic of a graph says of the kernels that compute. The sizes of workspaces
// follow from it.
void set_kernels_of_device(Graph& graph);

// A Program for a device with memory of its own runs on the CUDA backend, which then uses the
// stand-in for CUDA's runtime (tests/support/cuda) with a new seed each time. Other Programs, and
// all if tests are built without CUDA's headers, run on the host.
class DeviceUnderTest {
 public:
  explicit DeviceUnderTest(bool unified);
  ~DeviceUnderTest();  // expects that all that was made on the device is gone
  DeviceUnderTest(DeviceUnderTest const&) = delete;
  DeviceUnderTest& operator=(DeviceUnderTest const&) = delete;

  bool is_stand_in() const;
  Device& device();
  Kernels kernels() const;
  // Returns a function that makes the OrderWatch of an Engine, or null on the host. When the watch
  // is destroyed, it complains about items that could have run in a wrong order.
  MakeWatch make_watch() const;
  // Expects that the stand-in has no complaints, unless a test planned a fault. This must not be
  // called while an Engine runs.
  void expect_sound() const;

 private:
  struct StandIn;
  std::unique_ptr<StandIn> m_stand_in;  // null if the host is the device
};

}  // namespace spillway::test
