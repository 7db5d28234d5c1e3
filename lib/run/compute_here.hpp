// A ComputeHere is what a rank computes with on this machine: its cores, threads and device.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "job/cores.hpp"
#include "kernels/host/scope.hpp"
#include "run/device_module.hpp"
#include "run/prepare.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// While a DeviceKernels exists, the runtime of a backend's kernels runs on a device.
class DeviceKernels {
 public:
  DeviceKernels() = default;
  ~DeviceKernels();
  DeviceKernels(DeviceKernels const&) = delete;
  DeviceKernels& operator=(DeviceKernels const&) = delete;

  // Begins the runtime. Throws Error(device).
  Kernels begin(DeviceBackend const& backend, Device const& device);

 private:
  DeviceBackend const* m_backend = nullptr;  // null: the runtime did not begin
};

// A ComputeHere must exist as long as this rank computes, because it also owns the runtime of the
// kernels.
class ComputeHere {
 public:
  // All ranks must call this. choose() (run/prepare.hpp) decides what `auto` leaves open. The
  // calling thread, and threads that it starts later, are kept on the rank's part of the cores,
  // unless there are more threads than cores. The device that run.device names is opened. `before`
  // is the Arithmetic of a run that is resumed, or null; it is ignored if that run had another
  // number of ranks. Throws AgreedError: bad_input if the threads or the device that the Config
  // asks for do not exist, `device` if the device cannot be opened. Warns if a device could be
  // expected and there is none.
  ComputeHere(Config const& config, RunCores cores, Arithmetic const* before,
              FoundBackend const& backend, Comm& comm);

  // Makes the choices for another Config, which must ask for the same threads and device. A process
  // has one ComputeHere, so what is planned many times is planned with the same one. All ranks must
  // call this. Throws AgreedError(bad_input).
  void choose_for(Config const& config, Comm& comm);

  RunCores const& cores() const { return m_cores; }
  Choices const& choices() const { return m_choices; }
  // Says on what all ranks compute, as a part of a sentence (run/device_choice.hpp).
  std::string const& where() const { return m_where; }
  Compute const& operator*() const { return *m_compute; }
  Compute const* operator->() const { return &*m_compute; }

 private:
  RunCores m_cores;
  Choices m_choices;
  KernelScope m_kernels;
  std::unique_ptr<Device> m_device;  // null if the host computes
  DeviceKernels m_device_kernels;
  std::string m_where;
  std::optional<Compute> m_compute;
};

}  // namespace spillway
