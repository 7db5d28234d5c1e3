// The device on which tests run a Program: the host, or one with memory of its own.
#pragma once

#include <memory>

#include "runtime/compute.hpp"

namespace spillway::test {

// A Program for a device with memory of its own runs on CUDA's backend and the stand-in for CUDA's
// runtime, whose seed is another one each time. Where tests are built without CUDA's headers, and
// for other Programs, this is the host.
class DeviceUnderTest {
 public:
  explicit DeviceUnderTest(bool unified);
  ~DeviceUnderTest();  // expects that nothing is left of what was made on the device
  DeviceUnderTest(DeviceUnderTest const&) = delete;
  DeviceUnderTest& operator=(DeviceUnderTest const&) = delete;

  bool is_stand_in() const;
  Device& device();
  Kernels kernels() const;
  // Makes the watch of an Engine, which expects at its end that everything was ordered.
  MakeWatch make_watch() const;
  // Call it when no Engine runs. Expects no complaints.
  void expect_sound() const;

 private:
  struct StandIn;
  std::unique_ptr<StandIn> m_stand_in;  // null: the host
};

}  // namespace spillway::test
